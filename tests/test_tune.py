"""`react models tune`: which settings are taken, and what is written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cli_runs import ANSWER, Home
from servers import Llama, Received, Wire, serving, status

from react_agent import prompts
from react_agent.bench import Result, Task
from react_agent.cli.probe_tune import Trial, named, rows, tune
from react_agent.config import Settings
from react_agent.prompt import Prompt
from react_agent.types import Outcome, Usage

WRONG = " I know.\nFinal Answer: 5"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def suite(home: Home, count: int = 2) -> str:
    task = {"cat": "arith", "kind": "number", "answer": 409.5, "question": "What is 17.5% of 2340, or 409.5?"}
    rows = [json.dumps({"id": f"q{number}"} | task) for number in range(count)]
    return str(home.write("suite.jsonl", "\n".join(rows)))


def results(right: int, tokens: int | None = 100, *, of: int = 4) -> tuple[Result, ...]:
    return tuple(
        Result(
            task=Task(f"q{number}", "c", "q", "number", 1.0),
            seed=0,
            right=number < right,
            outcome=Outcome("answered", "1"),
            steps=1,
            good_steps=1,
            malformed=(),
            repairs=(),
            repeated=0,
            called=(),
            usage=Usage(tokens, None, tokens if tokens is None else 0),
            first_seconds=(),
            seconds=1.0,
        )
        for number in range(of)
    )


def taken(measured: dict[str, tuple[Result, ...]], **tried: list[Any]) -> list[str]:
    """The names of what is taken, where the trials end as it is said, and the others as the first."""
    asked: list[Settings] = []

    def measure(settings: Settings, words: str) -> tuple[Result, ...]:
        asked.append(settings)
        return measured.get(words, measured["as it is"])

    trials, winners = tune(measure, Settings(), tried)
    assert len(asked) == len(trials) == len(set(asked))
    return [named(trial.setting, trial.value) for trial in winners]


# ---- what is taken


def test_more_right_answers_win() -> None:
    measured = {"as it is": results(2), "dialect tags": results(3, 900), "dialect json": results(1, 1)}
    assert taken(measured, dialect=["react", "json", "tags"]) == ["dialect tags"]


def test_of_as_many_right_answers_fewer_tokens_win() -> None:
    measured = {"as it is": results(2), "dialect json": results(2, 90), "dialect tags": results(2, 80)}
    assert taken(measured, dialect=["react", "json", "tags"]) == ["dialect tags"]


def test_what_is_no_better_is_not_taken() -> None:
    assert taken({"as it is": results(2)}, dialect=["react", "json"], server_stop=[True, False]) == []
    uncounted = {"as it is": results(2, None)}
    assert taken(uncounted, dialect=["react", "json"]) == []
    assert taken({"as it is": results(2), "dialect json": results(2, None)}, dialect=["react", "json"]) == []


def test_each_setting_is_tried_with_the_best_of_those_before() -> None:
    seen: list[tuple[str, bool]] = []

    def measure(settings: Settings, words: str) -> tuple[Result, ...]:
        seen.append((settings.dialect, settings.server_stop))
        return results({"as it is": 1, "dialect tags": 2}.get(words, 3))

    tune(measure, Settings(), {"dialect": ["react", "tags"], "server_stop": [True, False]})
    assert seen == [("react", True), ("tags", True), ("tags", False)]


def test_the_table_says_why() -> None:
    first, better = Trial("", None, results(1, of=8)), Trial("dialect", "tags", results(8, of=8))
    told = rows((first, better), (better,))
    assert [(row["tried"], row["right"], row["taken"]) for row in told] == [
        ("as it is", 1, False),
        ("dialect tags", 8, True),
    ]
    assert told[1]["tokens"] == 800
    assert told[1]["p"] == pytest.approx(2 / 2**7, abs=0.001)
    assert told[0]["low"] < 1 / 8 < told[0]["high"]


# ---- the command


@dataclass
class OneDialect(Llama):
    """Answers right only where the prompt has the words of one dialect."""

    wanted: str = ""
    wrong: str = WRONG
    right: str = ANSWER
    asked: list[str] = field(default_factory=list)

    def _completion(self, received: Received, wire: Wire) -> None:
        prompt = received.json["prompt"]
        self.asked.append(prompt)
        self.reply = self.right if self.wanted in prompt else self.wrong
        super()._completion(received, wire)


def words_of(dialect: str) -> str:
    """A line of a dialect's rules that stands in no other."""
    others = [line for name in prompts.names() if name != dialect for line in lines_of(name)]
    return next(line for line in lines_of(dialect) if line not in others and "$" not in line)


def lines_of(dialect: str) -> list[str]:
    return [line for line in Prompt.load(dialect).texts.texts["opening"].splitlines() if len(line) > 12]


OTHER = next((name for name in prompts.names() if name not in ("react", "json")), "react")


def test_the_best_dialect_is_found_kept_and_used(home: Home) -> None:
    with serving(OneDialect("", wanted=words_of(OTHER))) as server:
        done = home.react("models", "tune", suite(home), "-m", server.url, "-n", "1")
        assert done.exit_code == 0, done.output
        lines = done.stdout.splitlines()
        assert any(re.match(rf"\* dialect {OTHER} +1 of 1", line) for line in lines), done.stdout
        assert any(re.match(r"  as it is +0 of 1 ", line) for line in lines)
        assert all(len(line) <= 80 for line in lines), lines
        asked = home.react("ask", "What is 17.5% of 2340, or 409.5?", "-v", "-m", server.url)
    assert asked.stdout == "409.5\n"
    assert re.search(rf"dialect {OTHER}, by ~/.local/share/react-agent/cards/", asked.stderr)


def test_a_dry_run_writes_nothing(home: Home) -> None:
    with serving(OneDialect("", wanted=words_of(OTHER))) as server:
        done = home.react("models", "tune", suite(home), "-m", server.url, "--dry-run", "--json")
    document = json.loads(done.stdout)
    assert document["path"] is None
    assert document["tuned"]["settings"]["dialect"] == OTHER
    assert not (home.path / ".local/share/react-agent/cards").exists()


@pytest.mark.parametrize("by", ["flag", "file"])
def test_what_the_user_set_is_not_tried(home: Home, by: str) -> None:
    if by == "file":
        home.write(".react.yaml", "dialect: react\n")
    fake = OneDialect("", wanted=words_of(OTHER))
    with serving(fake) as server:
        flags = ("-t", "react") if by == "flag" else ()
        done = home.react("models", "tune", suite(home), "-m", server.url, "--json", *flags)
    tried = [row["tried"] for row in json.loads(done.stdout)["tuned"]["tried"]]
    assert tried[0] == "as it is"
    assert {"constrain off", "follow_examples true", "check_numbers false"} <= set(tried)
    assert not any(name.startswith("dialect") for name in tried)
    assert not any(words_of(OTHER) in prompt for prompt in fake.asked)


def test_a_script_is_read_anew_for_each_trial(home: Home) -> None:
    script = home.script(ANSWER, WRONG)
    done = home.react("models", "tune", suite(home), "-m", script, "--json", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    tuned = json.loads(done.stdout)["tuned"]
    assert {row["right"] for row in tuned["tried"]} == {1}
    assert len(tuned["tried"]) >= len(prompts.names())
    assert not any(row["tried"].startswith("constrain") for row in tuned["tried"])  # a script takes no form


def test_a_tuning_takes_back_what_a_probe_had_decided(home: Home) -> None:
    with serving(OneDialect("", wanted=words_of("react"))) as server:
        assert home.react("models", "probe", server.url).exit_code == 0
        (path,) = home.path.glob(".local/share/react-agent/cards/*.yaml")
        text = path.read_text()
        assert "constrain: " in text
        path.write_text(text.replace("settings:\n", f"settings:\n  dialect: {OTHER}\n", 1))
        assert home.react("models", "tune", suite(home, 1), "-m", server.url).exit_code == 0
        shown = json.loads(home.react("models", "probe", "--show", "--json", "-m", server.url).stdout)
    assert shown["settings"]["dialect"] == OTHER
    assert shown["tuned"]["settings"]["dialect"] == "react"


def test_an_endpoint_that_fails_leaves_no_card(home: Home) -> None:
    with serving(status(404, {"error": "gone"})) as server:
        done = home.react("models", "tune", suite(home, 4), "-m", "openai:m", "--base-url", server.url)
    assert done.exit_code == 3
    assert "gone" in done.stderr
    assert not (home.path / ".local/share/react-agent/cards").exists()


def test_a_person_is_not_tuned(home: Home) -> None:
    done = home.react("models", "tune", suite(home), "-m", "human")
    assert (done.exit_code, "A person is no model" in done.stderr) == (2, True)


def test_a_suite_that_is_not_there(home: Home) -> None:
    done = home.react("models", "tune", "none.jsonl", "-m", home.script(ANSWER))
    assert (done.exit_code, "none.jsonl cannot be read" in done.stderr) == (2, True)
