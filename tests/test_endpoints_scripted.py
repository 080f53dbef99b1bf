"""The scripted model: a peer of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_agent.endpoints.scripted import Scripted
from react_agent.errors import ConfigError, EndpointError
from react_agent.types import Completion, Part, Usage


def replies(model: Scripted, count: int) -> list[Completion]:
    return [list(model.complete([Part("user", "a b c")]))[-1] for _ in range(count)]  # type: ignore[misc]


def test_it_streams_word_by_word_and_counts_words() -> None:
    items = list(Scripted([" I  know.\nYes "]).complete([Part("user", "a b c")]))
    assert items == [" I  ", "know.\n", "Yes ", Completion(" I  know.\nYes ", "stop", Usage(3, 0, 3))]


def test_it_cuts_at_stop_as_a_server_would() -> None:
    *pieces, reply = Scripted(["so\nObservation: 4"]).complete([], stop=["\nObservation:"])
    assert pieces == ["so"]
    assert reply == Completion("so", "stop", Usage(0, 0, 1))


def test_a_completion_keeps_its_finish_reason_and_usage() -> None:
    given = Completion("half a", "length", Usage(9, 8, 7))
    assert replies(Scripted([given]), 1) == [given]


def test_it_says_how_many_replies_were_used_when_they_run_out() -> None:
    model = Scripted(["one", "two"])
    assert [reply.text for reply in replies(model, 2)] == ["one", "two"]
    with pytest.raises(EndpointError, match="all 2 were used"):
        list(model.complete([]))


def test_closing_it_early_uses_up_one_reply() -> None:
    model = Scripted(["one two", "three"])
    stream = model.complete([])
    assert next(stream) == "one "
    stream.close()  # type: ignore[attr-defined]
    assert replies(model, 1)[0].text == "three"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_text_file_has_replies_between_lines_of_dashes(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "script.txt"
    path.write_bytes(" I add.\nAction: x\n---\n4 --- 5\n---\n".replace("\n", newline).encode())
    texts = [reply.text for reply in replies(Scripted.from_file(path), 2)]
    assert texts == [" I add.\nAction: x", "4 --- 5"]


def test_a_yaml_file_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("- one\n- text: two\n  finish_reason: length\n", encoding="utf-8")
    model = Scripted.from_file(path)
    assert [(r.text, r.finish_reason) for r in replies(model, 2)] == [("one", "stop"), ("two", "length")]
    assert model.describe() == {"kind": "script", "model": "script.yaml"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.yaml", "one: 1", "list of replies, not dict"),
        ("a.yaml", "- 5", "Reply 1 .*not 5"),
        ("a.yml", "- text: x\n  finish: y", "Reply 1"),
        ("a.yaml", "- [", "is not YAML"),
        ("a.txt", None, "cannot be read"),
    ],
)
def test_a_script_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        Scripted.from_file(tmp_path / name)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a file without end")
def test_a_script_without_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="more than 16000000 characters"):
        Scripted.from_file("/dev/zero")


def test_s67_a_reply_of_a_wrong_kind_is_quoted_in_short(tmp_path: Path) -> None:
    levels = [f"- &l{n} [{', '.join([f'*l{n - 1}'] * 9 if n else ['x'] * 9)}]" for n in range(9)]
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(levels), encoding="utf-8")
    with pytest.raises(ConfigError, match="Reply 1 of the script") as caught:
        Scripted.from_file(path)
    assert len(str(caught.value)) < 500
