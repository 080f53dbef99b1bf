"""Model cards: kept, found, damaged, and where they stand among the settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from react_agent import cards
from react_agent.cards import Card, Tuned, all_cards, card_path, find_card, forget_card, read_card, write_card
from react_agent.config import Settings, asked_as, of_a_model, read_settings
from react_agent.errors import ConfigError

EMPTY: dict[str, str] = {}
NAME = "openai:m at http://127.0.0.1:8000"
CARD = Card(
    "openai",
    "http://127.0.0.1:8000",
    "m",
    (NAME,),
    "2026-01-02 03:04:05 UTC",
    "0.1",
    {"stop": "refused", "errors": ["a: b", "c"], "read_speed": 1.5, "sent": None},
    {"server_stop": False},
)
ASKED = {"model": "openai:m", "base_url": "http://127.0.0.1:8000/v1"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "REACT_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_card_is_read_back_as_it_was_written() -> None:
    tuned = Tuned("s", "2026-01-03", "0.1", {"dialect": "tags"}, ({"tried": "as it is", "right": 1},))
    card = replace(CARD, tuned=tuned)
    path = write_card(card)
    assert read_card(path) == card
    assert find_card(NAME) == card
    assert find_card("openai:other at http://127.0.0.1:8000") is None
    assert [each.name for each in path.parent.iterdir()] == [path.name]  # nothing half written is left


def test_each_kind_host_and_model_has_a_file_of_its_own() -> None:
    others = [CARD, replace(CARD, model="M"), replace(CARD, kind="vllm"), replace(CARD, host="http://h"),
              replace(CARD, model="../../etc/passwd"), replace(CARD, model="a" * 500)]  # fmt: skip
    paths = [card_path(card) for card in others]
    assert len(set(paths)) == len(others)
    assert {path.parent for path in paths} == {cards.cards_folder()}
    assert max(len(path.name) for path in paths) < 120


def test_a_probe_keeps_what_a_tuning_found_and_the_other_way_round() -> None:
    tuned = Tuned("s", "2026-01-03", "0.1", {"dialect": "tags"})
    write_card(CARD)
    write_card(Card("openai", CARD.host, "m", ("another name",), tuned=tuned))
    both = find_card(NAME)
    assert both is not None
    assert (both.findings, both.tuned, both.asked) == (CARD.findings, tuned, (NAME, "another name"))
    write_card(replace(CARD, date="2026-02-02"))
    again = find_card(NAME)
    assert again is not None
    assert (again.date, again.tuned) == ("2026-02-02", tuned)
    assert again.decided == {"server_stop": False, "dialect": "tags"}


def test_of_two_cards_for_one_name_the_newer_counts() -> None:
    write_card(CARD)
    write_card(replace(CARD, model="n", date="2026-05-05", settings={}))
    found = find_card(NAME)
    assert found is not None
    assert found.model == "n"


def test_a_card_can_be_forgotten() -> None:
    write_card(CARD)
    assert forget_card(CARD)
    assert not forget_card(CARD)
    assert find_card(NAME) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no model card"),
        ("a: !!python/object:os.system x", "is no model card"),
        ("- 1", "is no model card"),
        ("schema_version: 2\nkind: a\n", "of version 2, and 1 is read here"),
        ("schema_version: 1\nkind: a\n", "damaged"),
        ("schema_version: 1\nkind: a\nhost: b\nmodel: 3\n", "damaged"),
        ("schema_version: 1\nkind: a\nhost: b\nmodel: c\nfindings: [1]\n", "damaged"),
        ("schema_version: 1\nkind: a\nhost: b\nmodel: c\nunheard_of: 1\n", "damaged"),
        ("schema_version: 1\nkind: a\nhost: b\nmodel: c\ntuned: {suite: 1}\n", "damaged"),
    ],
)
def test_a_damaged_card_is_named_and_decides_nothing(home: Path, text: str, words: str) -> None:
    path = card_path(CARD)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_card(path)
    assert find_card(NAME) is None
    assert [type(card) for _, card in all_cards()] == [ConfigError]
    assert read_settings(ASKED, folder=home, environment=EMPTY) == Settings(**ASKED)  # type: ignore[arg-type]
    write_card(CARD)
    assert find_card(NAME) == CARD


# ---- among the settings


def test_a_card_stands_between_what_is_built_in_and_the_user(home: Path) -> None:
    path = write_card(CARD)
    found = read_settings(ASKED, folder=home, environment=EMPTY)
    assert found.server_stop is False
    assert dict(found.origins)["server_stop"] == str(path)
    user = home / ".config/react-agent/settings.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("server_stop: true\n")
    found = read_settings(ASKED, folder=home, environment=EMPTY)
    assert found.server_stop is True
    assert dict(found.origins) == {
        "server_stop": str(user),
        "model": "the command line",
        "base_url": "the command line",
    }


@pytest.mark.parametrize("where", ["project", "flag"])
def test_nothing_the_user_set_gives_way_to_a_card(home: Path, where: str) -> None:
    write_card(CARD)
    if where == "project":
        (home / ".react.yaml").write_text("server_stop: true\n")
    flags = {"server_stop": True} if where == "flag" else {}
    assert read_settings({**ASKED, **flags}, folder=home, environment=EMPTY).server_stop is True


def test_a_card_is_for_its_model_alone(home: Path) -> None:
    write_card(CARD)
    for other in ({**ASKED, "model": "openai:n"}, {**ASKED, "base_url": "http://127.0.0.1:8001"}, {}):
        assert read_settings(other, folder=home, environment=EMPTY).server_stop is True


def test_a_card_can_be_left_out(home: Path) -> None:
    write_card(CARD)
    found = read_settings(ASKED, folder=home, environment=EMPTY, card=False)
    assert found.server_stop is True
    assert "server_stop" not in dict(found.origins)


def test_a_card_decides_no_place_no_tool_and_nothing_unknown(home: Path) -> None:
    decided = {"tool_files": ["evil.py"], "base_url": "http://evil", "model": "openai:x", "save": False,
               "tools": ["x"], "unheard_of": 1, "dialect": 3, "api_key": "k", "max_steps": 0}  # fmt: skip
    assert of_a_model(decided) == {}
    write_card(replace(CARD, settings=decided))
    assert read_settings(ASKED, folder=home, environment=EMPTY) == Settings(**ASKED)  # type: ignore[arg-type]


def test_the_environment_is_named(home: Path) -> None:
    found = read_settings(folder=home, environment={"REACT_MODEL": "openai:m"})
    assert dict(found.origins) == {"model": "the environment"}


def test_a_file_is_the_same_by_each_of_its_names(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    names = ["local:m.gguf", "local:./m.gguf", "local:~/m.gguf", f"local:{home}/m.gguf"]
    assert {asked_as(Settings(model=name)) for name in names} == {f"local:{home}/m.gguf"}


def test_a_password_in_an_address_is_in_no_card() -> None:
    assert asked_as(Settings(model="http://me:pw@127.0.0.1:80")) == "auto at http://127.0.0.1:80"
