"""Saved runs: exact, readable, private, and never lost for more than their last document."""

import contextlib
import copy
import hashlib
import os
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.errors import TranscriptError
from react_agent.parsers.step import Act, Action, FinalAnswer, Malformed, Repair, Span
from react_agent.transcript import (
    FORMAT,
    Recorder,
    Saved,
    dumps,
    loads,
    new_path,
    opening_text,
    plain,
    prompt_hash,
    read,
    redact,
    runs_below,
    runs_folder,
)
from react_agent.types import Completion, Observation, Outcome, Part, ToolSpec, Transcript, Turn, Usage

FIXTURES = Path(__file__).parent / "fixtures"
CALCULATOR = ToolSpec(
    "calculator",
    "Exact arithmetic.",
    {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
)
SAID = ' I need 17.5% of 2340.\nAction: calculator\nAction Input: {"expression": "17.5 / 100 * 2340"}'
ACT = Turn(
    Completion(SAID + "\nObservation: 7", "stop", Usage(210, 0, 31)),
    Act(
        SAID,
        "I need 17.5% of 2340.",
        (Action("calculator", {"expression": "17.5 / 100 * 2340"}, Span(23, 91)),),
        (Repair("invented_observation", Span(91, 106), "An invented observation was cut."),),
    ),
    (Observation("409.5", "tool", "calculator"),),
    seconds=1.25,
)
BROKEN = Turn(
    Completion("Action: abacus\r\n", "stop"),
    Malformed("Action: abacus\r\n", "", "UNKNOWN_TOOL", {"name": "abacus", "names": ("calculator",), "n": 1}),
    (Observation("There is no tool `abacus`.", "complaint"), Observation("Note this.", "note")),
)
ANSWER = Turn(Completion("Final Answer: 409.5", "stop"), FinalAnswer("Final Answer: 409.5", "", "409.5"))
HEAD = Transcript(
    "What is 17.5% of 2340?",
    "react",
    (CALCULATOR,),
    "You answer questions.\n\n- calculator\n",
    settings={"endpoint": {"kind": "scripted", "model": "no"}, "limits": {"max_steps": 8}},
)
WHOLE = replace(HEAD, turns=(ACT, BROKEN, ANSWER), outcome=Outcome("answered", "409.5"))
UNANSWERED = replace(HEAD, turns=(ACT, ANSWER))
STRANGE = replace(HEAD, question="…\n---\nturn: 9\n...\n", turns=(BROKEN, replace(ANSWER, observations=())))


def record(path: Path, transcript: Transcript, secrets: tuple[str, ...] = ()) -> Path:
    with Recorder(path, transcript, secrets=secrets) as recorder:
        for number, turn in enumerate(transcript.turns, 1):
            recorder.turn(turn, f"sha256:{number}")
        if transcript.outcome:
            recorder.outcome(transcript.outcome)
    assert recorder.failed == ""
    return path


def saved(transcript: Transcript) -> Saved:
    numbers = tuple(range(1, len(transcript.turns) + 1))
    return Saved(transcript, tuple(f"sha256:{n}" for n in numbers), numbers=numbers)


# What is written


@pytest.mark.parametrize("transcript", [WHOLE, UNANSWERED, STRANGE, HEAD])
def test_a_recorded_run_is_read_back_equal(tmp_path: Path, transcript: Transcript) -> None:
    again = read(record(tmp_path / "run.yaml", transcript))
    assert again == saved(transcript)
    assert again.warnings == ()
    assert [turn.seconds for turn in again.transcript.turns] == [turn.seconds for turn in transcript.turns]
    assert set(again.measured) >= {"started", "versions"}


def test_a_person_can_read_it(tmp_path: Path) -> None:
    text = record(tmp_path / "run.yaml", WHOLE).read_text(encoding="utf-8")
    assert text.startswith(
        "---\nreact_transcript: 1\nquestion: What is 17.5% of 2340?\ndialect: react\nendpoint:\n"
    )
    wanted = """\
    ---
    turn: 1
    prompt: sha256:1
    completion:
      text: |2-
         I need 17.5% of 2340.
        Action: calculator
        Action Input: {"expression": "17.5 / 100 * 2340"}
        Observation: 7
      finish_reason: stop
    step:
      kind: act
      said: 91
      thought: I need 17.5% of 2340.
      actions:
        - tool: calculator
          arguments:
            expression: "17.5 / 100 * 2340"
          span: [23, 91]
      repairs:
        - kind: invented_observation
          span: [91, 106]
          note: An invented observation was cut.
    observations:
      - kind: tool
        tool: calculator
        text: "409.5"
    measured:
      seconds: 1.25
      usage:
        prompt: 210
        cached: 0
        completion: 31
    ...
    """
    assert textwrap.dedent(wanted) in text
    assert text.endswith("...\n")


def test_any_yaml_library_reads_the_same_data(tmp_path: Path) -> None:
    documents = list(yaml.safe_load_all(record(tmp_path / "run.yaml", WHOLE).read_bytes()))
    assert [next(iter(document)) for document in documents] == ["react_transcript"] + 3 * ["turn"] + [
        "outcome"
    ]
    assert documents[0]["endpoint"] == {"kind": "scripted", "model": "no"}
    assert documents[2]["completion"]["text"] == "Action: abacus\r\n"


FIXED = {1: "9ab2109a46baee4d77043c0a24dd9b8245532271d816106365f8fc21e3ee0004"}
"""Version of the format → the SHA-256 of a file in it, which nobody changes any more.

With a new version a file in it comes here, and a test like the one below; the older ones stay.
"""


def test_a_file_of_every_format_is_kept_and_read() -> None:
    assert list(FIXED) == list(range(1, FORMAT + 1))
    for version, digest in FIXED.items():
        path = FIXTURES / f"transcript-format-{version}.yaml"
        data = path.read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest, f"{path.name} was changed"
        assert data.startswith(f"---\nreact_transcript: {version}\n".encode())
        run = read(path)
        assert run.warnings == ()
        assert {type(turn.step) for turn in run.transcript.turns} == {Act, Malformed, FinalAnswer}
        assert run.transcript.outcome is not None


def test_the_first_format_is_read_for_ever() -> None:
    run = read(FIXTURES / "transcript-format-1.yaml")
    assert run.warnings == ()
    assert run.numbers == (1, 2, 3)
    act, broken, answer = (turn.step for turn in run.transcript.turns)
    assert isinstance(act, Act)
    assert act.actions == (Action("calculator", {"expression": "17.5 / 100 * 2340"}, Span(23, 91)),)
    assert isinstance(broken, Malformed)
    assert broken.facts == {"name": "abacus", "names": ("calculator",), "nearest": ()}
    assert isinstance(answer, FinalAnswer)
    assert run.transcript.outcome == Outcome("answered", "409.5")
    assert run.transcript.specs[0].effect == "pure"
    assert run.transcript.settings["limits"] == {"max_steps": 8}
    assert run.transcript.turns[0].completion.usage == Usage(210, 0, 31)


TRAPS = [
    *(
        "",
        " ",
        "\n",
        "\n\n",
        "a\n",
        "a\n\n",
        "a\n ",
        " a\nb",
        "\ta\nb",
        "\n a\n",
        "a \nb",
        "a\t\nb\t",
        "  \n  a",
    ),
    *(
        "\r",
        "a\r\nb\r\n",
        "\x85",
        "a\x85b\nc",
        "\u2028",
        "a\u2029\nb",
        "\ufeff",
        "\ufeffa\nb",
        "\0",
        "\x1b[0m\n",
    ),
    *(
        "\ud800",
        "\udfff\ud800",
        "\uffff",
        "\uffffD800",
        "\ufffe",
        "\xa0",
        "\u3000\n",
        "\U0001f600",
        "\u202e\nx",
    ),
    *(
        "no",
        "Yes",
        "on",
        "~",
        "null",
        "True",
        "n",
        "12:30",
        "1_000",
        "0o7",
        "0x1F",
        "1e3",
        ".5",
        "+1",
        "-",
        "007",
    ),
    *(
        "2024-01-01",
        "2001-12-14t21:59:43.10-05:00",
        ".inf",
        "<<",
        "=",
        "? a",
        "- a",
        "# a",
        "a #b",
        "a: b",
        "a:",
    ),
    *(
        "---",
        "...",
        "\n---\n",
        "\n...\n",
        "%YAML",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "@",
        "`",
        "[a",
        "{a}",
        "'a'",
        '"',
        "\\",
    ),
    *('it\'s "so"', "C:\\new\\table", "x" * 5000, "a" * 300 + "\n", "é: ü", "Ω"),
]


@pytest.mark.parametrize("text", TRAPS)
@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_every_text_comes_back_exactly(text: str, loader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if loader == "SafeLoader":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    document = {"a": text, "b": [text, [text, {"c": text}]], "d": {"e": text, "f": {text: text}}, text: 1}
    assert plain.load(plain.dump(document).encode()) == document


PIECES = [
    *("a", " ", "\n", "\t", "\r", "\r\n", "-", ":", "#", "...", "---", "'", '"', "\\", "é", "问"),
    *(
        "\x85",
        "\u2028",
        "\ufeff",
        "\0",
        "\x1b",
        "\ud800",
        "\udc00",
        "\uffff",
        "\uffffD800",
        "\u202e",
        "\U0001f600",
    ),
    *("\n---\nturn: 9\n", "\n...\n", "  \n", "x" * 300, "word " * 20),
]
texts = st.text(st.characters(exclude_categories=()), max_size=12) | st.lists(
    st.sampled_from(PIECES), max_size=8
).map("".join)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(texts, data, max_size=4))
@settings(max_examples=150, deadline=None)
def test_all_plain_data_comes_back(document: dict[str, object]) -> None:
    again = plain.load(plain.dump(document).encode()) if document else {}
    assert repr(again) == repr(document)  # tells 1 from True and 0.0 from -0.0


spans = st.builds(Span, st.integers(0, 99), st.integers(0, 99))
repairs = st.lists(st.builds(Repair, texts, spans, texts), max_size=2).map(tuple)
arguments = st.dictionaries(texts, data, max_size=3)
actions = st.lists(st.builds(Action, texts, arguments, spans), min_size=1, max_size=2).map(tuple)
facts = st.dictionaries(texts, texts | st.integers() | st.lists(texts, max_size=3).map(tuple), max_size=3)
steps = (
    st.builds(Act, texts, texts, actions, repairs)
    | st.builds(FinalAnswer, texts, texts, texts, repairs)
    | st.builds(Malformed, texts, texts, texts, facts, repairs)
)
counts = st.none() | st.integers(0, 10**6)
turns = st.builds(
    Turn,
    st.builds(Completion, texts, st.none() | texts, st.builds(Usage, counts, counts, counts)),
    steps,
    st.lists(
        st.builds(
            Observation,
            texts,
            st.sampled_from(["tool", "error", "complaint", "note"]),
            texts,
            st.integers(0, 9),
        ),
        max_size=2,
    ).map(tuple),
)
transcripts = st.builds(
    Transcript,
    texts,
    texts,
    st.lists(
        st.builds(ToolSpec, texts, texts, arguments, st.sampled_from(["pure", "reads", "writes"])), max_size=2
    ).map(tuple),
    texts,
    st.lists(turns, max_size=3).map(tuple),
    st.none() | st.builds(Outcome, texts, st.none() | texts, texts),
    st.fixed_dictionaries(
        {},
        optional={
            "endpoint": st.none() | st.dictionaries(texts, data, max_size=3),
            "limits": st.just({}),
            "more": data,
        },
    ),
)


@given(transcripts)
@settings(max_examples=40, deadline=None)
def test_any_run_comes_back_equal(transcript: Transcript) -> None:
    assert loads(dumps(saved(transcript)).encode()) == saved(transcript)


@given(transcripts)
@settings(max_examples=40, deadline=None)
def test_what_is_written_again_is_identical(transcript: Transcript) -> None:
    text = dumps(saved(transcript))
    assert dumps(loads(text.encode())) == text
    assert dumps(loads(text.replace("\n", "\r\n").encode())) == text


@given(transcripts)
@settings(max_examples=40, deadline=None)
def test_any_run_comes_back_from_its_file(
    tmp_path_factory: pytest.TempPathFactory, transcript: Transcript
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.unlink(missing_ok=True)
    again = read(record(path, transcript))
    assert again == saved(transcript)
    assert again.warnings == ()


@given(turns, st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_what_was_said_is_stored_once_where_it_begins_the_text(turn: Turn, length: int) -> None:
    step = replace(turn.step, said=turn.completion.text[:length])
    run = saved(replace(HEAD, turns=(replace(turn, step=step),)))
    assert loads(dumps(run).encode()) == run
    document = list(yaml.safe_load_all(dumps(run)))[1]
    assert isinstance(document["step"].get("said", 0), int)


def test_huge_numbers_and_deep_arguments_are_kept() -> None:
    deep: object = "x"
    for _ in range(200):
        deep = [deep]
    for arguments in ({"n": -(10**5000)}, {"deep": deep}):
        run = replace(
            HEAD, turns=(Turn(Completion("x"), Act("x", "", (Action("calculator", arguments, Span(0, 1)),))),)
        )
        assert loads(dumps(saved(run)).encode()) == saved(run)


# What is refused


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('a: !!python/object/apply:os.system ["touch PWNED"]', "tags are not allowed"),
        ("a: !!str x", "tags are not allowed"),
        ("a: !include x", "tags are not allowed"),
        ("a: &x [1]\nb: *x", "anchors are not allowed"),
        ("a: " + "[" * 101 + "]" * 101, "levels deep"),
        ("a:\n" + "- " * 50_000 + "x", "levels deep"),
        ("settings: {}\nsettings: {}", "stands twice"),
        ("? [a]\n: 1", "a key must be text"),
        ("a: 1\r---\rreact_transcript: 1", "a second document begins"),
    ],
)
def test_s66_only_plain_data_is_built(
    line: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.yaml"
    path.write_bytes(f"---\nreact_transcript: 1\n{line}\n...\n".encode())
    with pytest.raises(TranscriptError, match=problem) as caught:
        read(path)
    assert f"{path}, line 1" in str(caught.value)
    assert not (tmp_path / "PWNED").exists()


def test_s67_an_alias_bomb_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 8)]
    with pytest.raises(TranscriptError, match="anchors are not allowed"):
        loads("\n".join(["---", "react_transcript: 1", *rows, "...", ""]).encode())
    with pytest.raises(plain.Refused, match="aliases are not allowed"):
        plain.load(b"a: *x")


def test_s67_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "MOST_VALUES", 50)
    with pytest.raises(plain.Refused, match="more than 50 values"):
        plain.load(b"a: [" + b"1," * 60 + b"]")


def test_s68_words_mean_what_json_would_say() -> None:
    document = plain.load(
        b"a: no\nv: 1_000\nt: 12:30\nd: 2024-01-01\nn: ~\ni: -3\nf: 1e3\nz: 007\ny: true\nno: on\n"
    )
    assert document == {
        **{"a": "no", "v": "1_000", "t": "12:30", "d": "2024-01-01", "n": None},
        **{"i": -3, "f": 1000.0, "z": "007", "y": True, "no": "on"},
    }


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"hello\n", "is not a react transcript"),
        (b"services:\n  web: {}\n", "is not a react transcript"),
        (b"---\nservices: {}\n...\n", "no `react_transcript`"),
        (b"---\n- a\n...\n", "no mapping"),
        (b"---\nturn: 1\n...\n", "no `react_transcript`"),
        (b"---\nreact_transcript: 2\n...\n", "format 2 by a newer react-agent, and this one reads up to 1"),
        (b"---\nreact_transcript: true\n...\n", "not a version number"),
        (b"---\nreact_transcript: 1\n...\n", "`question` is missing"),
        (b"\xff\xfe\x00binary", "is not a react transcript"),
        (b"---\nreact_transcript: 1\nquestion: a", "not written to its end"),
    ],
)
def test_what_is_no_transcript_says_so(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match=problem) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_a_wrong_field_is_named_with_its_line(tmp_path: Path) -> None:
    path = record(tmp_path / "run.yaml", WHOLE)
    text = path.read_text(encoding="utf-8")
    line = text[: text.index("---\nturn: 2")].count("\n") + 1
    path.write_text(text.replace("kind: malformed", "kind: broken"), encoding="utf-8")
    with pytest.raises(TranscriptError, match=f"line {line}: `kind` is 'broken'"):
        read(path)
    with pytest.raises(TranscriptError, match="cannot be read: No such file"):
        read(tmp_path / "absent.yaml")


# What is damaged


@pytest.mark.parametrize("transcript", [WHOLE, UNANSWERED, STRANGE])
def test_s71_cut_at_every_byte_of_the_last_document(tmp_path: Path, transcript: Transcript) -> None:
    whole = record(tmp_path / "run.yaml", transcript).read_bytes()
    start = whole.rindex(b"\n---\n") + 1
    without = loads(whole[:start])
    assert without.warnings == ()
    ends_with_outcome = transcript.outcome is not None
    assert len(without.transcript.turns) == len(transcript.turns) - (not ends_with_outcome)
    for cut in range(start + 1, len(whole) - 1):
        torn = loads(whole[:cut])
        assert torn == without, cut
        assert len(torn.warnings) == 1, cut
        assert "not written to its end" in torn.warnings[0] or cut < start + 4
    assert loads(whole[:-1]) == loads(whole)  # only the last line break is missing
    assert loads(whole[:-1]).warnings == ()


@pytest.mark.parametrize("transcript", [WHOLE, UNANSWERED, STRANGE])
def test_s71_a_torn_run_can_be_resumed_twice(tmp_path: Path, transcript: Transcript) -> None:
    whole = record(tmp_path / "run.yaml", transcript).read_bytes()
    start = whole.rindex(b"\n---\n") + 1
    path = tmp_path / "torn.yaml"
    for cut in range(start, len(whole), 1):
        path.write_bytes(whole[:cut])
        kept = read(path)
        torn = len(kept.warnings)
        for more in (BROKEN, ANSWER):
            with Recorder.resume(path) as recorder:
                recorder.turn(more, "sha256:more")
        again = read(path)
        assert again.transcript.turns == (*kept.transcript.turns, BROKEN, ANSWER), cut
        assert again.numbers == tuple(range(1, len(again.transcript.turns) + 1)), cut
        assert len(again.warnings) == torn, cut
        assert path.read_bytes().startswith(whole[:cut]), "what was there must stay"


def test_s72_nul_bytes_between_documents_lose_nothing(tmp_path: Path) -> None:
    whole = record(tmp_path / "run.yaml", WHOLE).read_bytes()
    for mark in (b"---\nturn: 2", b"---\nturn: 3", b"---\noutcome"):
        for after in (b"", b"\n"):
            damaged = loads(whole.replace(mark, 500 * b"\0" + after + mark))
            assert damaged == loads(whole)
            assert len(damaged.warnings) == 1
            assert "500 NUL bytes" in damaged.warnings[0]


def test_s72_nul_bytes_in_a_document_lose_that_document_only(tmp_path: Path) -> None:
    path = record(tmp_path / "run.yaml", WHOLE)
    whole = path.read_bytes()
    place = whole.index(b"abacus")
    path.write_bytes(whole[:place] + 500 * b"\0" + whole[place:])
    damaged = read(path)
    assert damaged.transcript.turns == (ACT, ANSWER)
    assert damaged.numbers == (1, 3)
    assert damaged.prompts == ("sha256:1", "sha256:3")
    assert damaged.transcript.outcome == Outcome("answered", "409.5")
    assert ["500 NUL bytes" in w for w in damaged.warnings] == [True, False]
    assert "turn 3 stands where turn 2 was expected" in damaged.warnings[1]


def test_s72_nul_bytes_over_a_boundary_lose_what_they_touch(tmp_path: Path) -> None:
    whole = record(tmp_path / "run.yaml", WHOLE).read_bytes()
    place = whole.index(b"...\n---\nturn: 2")
    damaged = loads(whole[:place] + 500 * b"\0" + whole[place + 15 :])
    assert damaged.transcript.turns == (ANSWER,)
    assert len(damaged.warnings) == 2


def test_a_document_that_is_no_yaml_is_left_out(tmp_path: Path) -> None:
    whole = record(tmp_path / "run.yaml", WHOLE).read_bytes()
    for junk in (b"\xff\xfe", b"'", b"\x07", b"}"):
        damaged = loads(whole.replace(b"turn: 2", b"turn: " + junk))
        assert damaged.numbers == (1, 3)
        assert "cannot be read" in damaged.warnings[0]


@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 60), st.binary(max_size=8)), max_size=3))
@settings(max_examples=150, deadline=None)
def test_damage_is_reported_and_never_crashes(damages: list[tuple[int, int, bytes]]) -> None:
    whole = dumps(saved(WHOLE)).encode()
    broken = whole
    for place, length, junk in damages:
        broken = broken[:place] + junk + broken[place + length :]
    try:
        run = loads(broken)
    except TranscriptError:
        return
    if run.numbers != tuple(range(1, len(run.numbers) + 1)):
        assert run.warnings


DOCUMENTS = list(yaml.safe_load_all(dumps(saved(WHOLE))))


@given(st.data(), data)
@settings(max_examples=200, deadline=None)
def test_a_field_of_the_wrong_type_is_a_transcript_error(draw: st.DataObject, other: object) -> None:
    documents = copy.deepcopy(DOCUMENTS)
    place = draw.draw(st.sampled_from(documents))
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw.draw(st.sampled_from(keys))
        if not place[key] or not isinstance(place[key], (dict, list)) or draw.draw(st.booleans()):
            break
        place = place[key]
    place[key] = other
    with contextlib.suppress(TranscriptError):
        assert len(loads("".join(map(plain.dump, documents)).encode()).transcript.turns) in (2, 3)


def test_s88_crlf_files_read_the_same(tmp_path: Path) -> None:
    whole = record(tmp_path / "run.yaml", WHOLE).read_bytes()
    assert b"\r\n" not in whole
    crlf = whole.replace(b"\n", b"\r\n")
    assert loads(crlf) == loads(whole) == loads(b"\xef\xbb\xbf" + crlf)
    assert loads(crlf).warnings == ()
    path = tmp_path / "crlf.yaml"
    path.write_bytes(crlf)
    with Recorder.resume(path) as recorder:
        recorder.turn(ANSWER, "sha256:4")
    assert read(path).numbers == (1, 2, 3, 4)
    assert read(path).warnings == ()


# Who may write


def test_s70_only_the_owner_can_read_whatever_the_umask(tmp_path: Path) -> None:
    for umask in (0o000, 0o077, 0o777):
        old = os.umask(umask)
        try:
            path = record(tmp_path / f"{umask}" / "runs" / "run.yaml", WHOLE)
        finally:
            os.umask(old)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for folder in (path.parent, path.parent.parent):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    record(tmp_path / "run.yaml", HEAD)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("mine")
    with pytest.raises(TranscriptError, match="is there already"):
        Recorder(path, HEAD)
    assert path.read_text() == "mine"


def test_s73_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    script = "import pathlib; from react_agent.transcript import Recorder\n"
    script += f"Recorder.resume(pathlib.Path({str(path)!r}))"
    with Recorder(path, HEAD) as recorder:
        recorder.turn(ACT, "sha256:1")
        with pytest.raises(TranscriptError, match="written by another process"):
            Recorder.resume(path)
        other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert "is being written by another process" in other.stderr
        recorder.turn(ANSWER, "sha256:2")
    assert read(path).transcript.turns == (ACT, ANSWER)
    subprocess.run([sys.executable, "-c", script], check=True)


def test_runs_that_start_at_once_get_a_file_each(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        recorders = list(pool.map(lambda _: Recorder.start(tmp_path, HEAD), range(24)))
    assert len({recorder.path for recorder in recorders}) == 24
    for recorder in recorders:
        assert recorder.failed == ""
        recorder.close()
        assert read(recorder.path).transcript == HEAD
    with Recorder.start(
        tmp_path, replace(HEAD, question="my key hunter22"), secrets=["hunter22"]
    ) as recorder:
        assert recorder.path.name.endswith("-my-key-redacted.yaml")


def test_only_a_transcript_can_be_resumed(tmp_path: Path) -> None:
    path = tmp_path / "notes.yaml"
    path.write_text("my notes\n")
    with pytest.raises(TranscriptError, match="not a react transcript"):
        Recorder.resume(path)
    assert path.read_text() == "my notes\n"
    assert "No such file" in Recorder.resume(tmp_path / "absent.yaml").failed


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_s74_a_full_disk_ends_the_recording_and_not_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    size = len(record(tmp_path / "other.yaml", replace(HEAD, turns=(ACT,))).read_bytes())
    script = textwrap.dedent(f"""
        import resource, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from pathlib import Path
        from test_transcript import ACT, ANSWER, HEAD, Outcome, Recorder
        resource.setrlimit(resource.RLIMIT_FSIZE, ({size + 50}, {size + 50}))
        with Recorder(Path({str(path)!r}), HEAD) as recorder:
            recorder.turn(ACT, "sha256:1")
            assert recorder.failed == ""
            recorder.turn(ANSWER, "sha256:2")
            recorder.turn(ANSWER, "sha256:3")
            recorder.outcome(Outcome("answered", "1"))
        print(recorder.failed)
    """)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == f"Saving the run to {path} has ended: File too large.\n"
    assert read(path).transcript.turns == (ACT,)
    assert len(read(path).warnings) == 1


def test_s75_without_a_home_the_run_goes_on_unsaved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (Path("/proc/no/such/place/run.yaml"), Path("~no-such-user/run.yaml")):
        with Recorder(place, HEAD) as recorder:
            recorder.turn(ACT, "sha256:1")
            recorder.outcome(Outcome("answered", "1"))
        assert recorder.failed.startswith(f"Saving the run to {place} has ended: ")
        assert "\n" not in recorder.failed
    assert "no home folder is known; set HOME or REACT_RUNS_DIR" in recorder.failed
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert "Not a directory" in Recorder(blocked / "runs" / "run.yaml", HEAD).failed
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("REACT_RUNS_DIR", raising=False)
    assert runs_folder().name == "runs"


# Secrets


KEY = "sk-Ab1/+x"


def test_s69_no_secret_is_written(tmp_path: Path) -> None:
    text = f'Thought: {KEY}\nAction: f\nAction Input: {{"k": "{KEY}", "n": 777000777}}'
    action = Action("f", {"k": KEY, KEY: [KEY], "n": 777000777}, Span(9 + len(KEY) + 1, len(text)))
    repair = Repair("k", Span(9, 9 + len(KEY)), f"saw {KEY}")
    head = Transcript(
        f"use {KEY}",
        "react",
        (ToolSpec("f", f"takes {KEY}", {"default": KEY}),),
        f"opening {KEY}",
        (
            Turn(Completion(text), Act(text, KEY, (action,), (repair,)), (Observation(f"401 {KEY}"),)),
            Turn(Completion(KEY), Malformed(KEY, KEY, "BAD_INPUT", {"names": (KEY,)})),
            Turn(Completion(KEY), FinalAnswer(KEY, KEY, KEY)),
        ),
        Outcome("error", KEY, f"Bearer {KEY}"),
        {"endpoint": {"url": f"http://x/?key={KEY}"}},
    )
    path = record(tmp_path / "run.yaml", head, secrets=(KEY, "777000777", ""))
    assert KEY not in path.read_text(encoding="utf-8")
    assert "777000777" not in path.read_text(encoding="utf-8")
    run = read(path).transcript
    first = run.turns[0]
    assert isinstance(first.step, Act)
    assert first.completion.text == redact(text, (KEY, "777000777"))
    assert first.step.said == first.completion.text
    begin, end = first.step.actions[0].span
    assert first.completion.text[begin:end].startswith("Action: f\n")
    assert first.completion.text[begin:end].endswith('"n": [redacted]}')
    begin, end = first.step.repairs[0].span
    assert first.completion.text[begin:end] == "[redacted]"
    assert run.outcome == Outcome("error", "[redacted]", "Bearer [redacted]")


def test_s69_the_longest_secret_wins() -> None:
    assert redact("abc abcdef", ["abc", "abcdef", ""]) == "[redacted] [redacted]"
    assert redact("nothing here", []) == "nothing here"


# Names


def test_file_names_are_safe_short_and_new(tmp_path: Path) -> None:
    now = datetime(2026, 11, 30, 14, 22, 10)
    path = new_path(tmp_path, "What is 17.5% of 2340?", now)
    assert path == tmp_path / "2026-11-30-142210-what-is-17-5-of-2340.yaml"
    record(path, HEAD)
    assert new_path(tmp_path, "What is 17.5% of 2340?", now).name.endswith("-2340-2.yaml")
    assert new_path(tmp_path, "今天天气怎么样？", now).name == "2026-11-30-142210-question.yaml"
    assert new_path(tmp_path, "Où est l'île?", now).name == "2026-11-30-142210-ou-est-l-ile.yaml"
    assert new_path(tmp_path, "../../etc/passwd\0", now).name == "2026-11-30-142210-etc-passwd.yaml"
    for question in ("word " * 1000, "x" * 1000):
        assert 30 < len(new_path(tmp_path, question, now).name) < 80


@given(texts)
def test_every_question_makes_a_safe_name(question: str) -> None:
    name = new_path(Path("nowhere"), question, datetime(2026, 1, 2)).name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert name.endswith(".yaml")


def test_the_runs_folder_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REACT_RUNS_DIR", str(tmp_path))
    assert runs_folder() == tmp_path
    monkeypatch.delenv("REACT_RUNS_DIR")
    assert runs_folder().parts[-2:] == ("react-agent", "runs")


# Prompt hashes


def test_a_prompt_is_named_by_its_whole_content() -> None:
    parts = (Part("system", "a"), Part("user", "b", "question"))
    canonical = b'[["system","a","template"],["user","b","question"]]'
    assert prompt_hash(parts) == f"sha256:{hashlib.sha256(canonical).hexdigest()}"
    others = [
        (),
        parts[:1],
        parts[::-1],
        (Part("system", "ab"), Part("user", "", "question")),
        (Part("system", "a"), Part("user", "b", "template")),
        (Part("system", "a"), Part("assistant", "b", "question")),
        (Part("system", "a"), Part("user", "\ud800", "question")),
    ]
    assert len({prompt_hash(other) for other in (parts, *others)}) == 1 + len(others)


def test_s69_the_hash_is_that_of_the_prompt_without_secrets() -> None:
    said, kept = Part("user", f"use {KEY}", "question"), Part("user", "use [redacted]", "question")
    assert prompt_hash((said,), (KEY,)) == prompt_hash((kept,)) != prompt_hash((said,))


def test_the_opening_is_text_with_a_blank_line_between_roles() -> None:
    parts = (Part("system", "a\n"), Part("user", "Question: "), Part("user", "b?"), Part("assistant", "c\n"))
    assert opening_text(parts) == "a\n\nQuestion: b?\n\nc\n"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("type: string", "type: 5", "`parameters.properties.expression.type` is 5; it must be text"),
        ("expression:\n          type: string", "expression: [1]", "must be a mapping"),
        (
            "required: [expression]",
            "required: yes",
            "`parameters.required` is 'yes'; it must be a list of texts",
        ),
        ("seconds: 1.25", "seconds: 1.0e+308", "must be a finite number"),
        ("seconds: 1.25", "seconds: .nan", "`seconds` is nan"),
        ("prompt: 210", f"prompt: {hex(10**5000)}", "`measured` holds a number of more"),
        ("kind: scripted", "kind: [[1]]", "`kind` is"),
        ("expression: 17.5 / 100 * 2340", "'[1]'", "must be a JSON object"),
        ("model: no", f"n_ctx: {hex(10**5000)}", "`endpoint` holds a number of more than 4,000 digits"),
    ],
)
def test_what_cannot_be_used_is_refused_where_it_is_read(old: str, new: str, problem: str) -> None:
    text = dumps(saved(WHOLE)).replace('"17.5 / 100 * 2340"', "17.5 / 100 * 2340").replace('"no"', "no")
    assert old in text
    with pytest.raises(TranscriptError, match="line ") as caught:
        loads(text.replace(old, new, 1).encode())
    assert problem in str(caught.value)


def test_pipes_are_no_runs_and_closed_folders_stand_for_what_is_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    run = record(tmp_path / "a" / "run.yaml", WHOLE)
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zeros.yaml").symlink_to("/dev/zero")
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    assert runs_below(tmp_path) == [run, tmp_path / "gone.yaml"]
    looked = os.scandir

    def refuse(place: str) -> object:
        if Path(place).name == "a":
            raise PermissionError(13, "Permission denied", place)
        return looked(place)

    monkeypatch.setattr(os, "scandir", refuse)
    assert runs_below(tmp_path) == [tmp_path / "a", tmp_path / "gone.yaml"]
