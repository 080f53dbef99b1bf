"""The stops of a run: what is shown at each, what may be changed there, and what is saved of it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_runs import Home

from react_agent.agent import Agent
from react_agent.breaking import read_breaks
from react_agent.cli.chat_input import Cancelled
from react_agent.cli.display import Run
from react_agent.cli.other_arguments import rewritten
from react_agent.cli.run import run
from react_agent.cli.screen import Screen
from react_agent.cli.stops import Stops
from react_agent.config import Settings
from react_agent.endpoints.formats import flatten
from react_agent.endpoints.human import Human
from react_agent.endpoints.scripted import Scripted
from react_agent.errors import ToolError
from react_agent.parsers.step import Act
from react_agent.prompt import Prompt
from react_agent.replay import replay
from react_agent.tools import Toolbox, builtin, tool
from react_agent.transcript import dumps, loads, read
from react_agent.types import Completion, Constraint, Endpoint, Observation, Part, Stream

ACT = ' I calculate.\nAction: calculator\nAction Input: {"expression": "6*7"}'
FORGED = "\nObservation: 41\nThought: So it is.\nFinal Answer: 41"
ANSWER = " I know.\nFinal Answer: 42"
ENTER = ""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """An editor that writes these texts, one after another; None leaves a file as it is."""
    program, texts = tmp_path / "editor.py", tmp_path / "texts.json"
    program.write_text(
        "import json, sys\n"
        f"at = {str(texts)!r}\n"
        "first, *rest = json.load(open(at))\n"
        "json.dump(rest, open(at, 'w'))\n"
        "if first is not None: open(sys.argv[1], 'w', encoding='utf-8').write(first)\n"
    )
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {program}")

    def write(*written: str | None) -> None:
        texts.write_text(json.dumps(written))

    return write


class Seen:
    """A run with stops: what was shown, and what came of it."""

    def __init__(
        self, folder: Path, words: Sequence[str | type[BaseException]], endpoint: Endpoint, **more: Any
    ):
        shown = io.StringIO()
        left = iter(words)
        self.asked: list[str] = []

        def ask(line: str) -> str:
            self.asked.append(line)
            shown.write(line + "\n")
            word = next(left)
            if isinstance(word, str):
                return word
            raise word

        stops = Stops(Screen(shown), ask)
        toolbox = more.pop("toolbox", Toolbox([builtin("calculator")]))
        agent = Agent(endpoint, Prompt.load(more.pop("dialect", "react")), toolbox)
        settings = Settings(save=str(folder / "run.yaml"), **more)
        self.run: Run = run(agent, "What is 6*7?", settings, [stops], stops=stops)
        self.shown = shown.getvalue()
        self.saved = read(folder / "run.yaml")
        self.text = (folder / "run.yaml").read_text(encoding="utf-8")
        self.unused = list(left)

    @property
    def answer(self) -> str | None:
        return self.run.outcome.answer

    @property
    def replays(self) -> tuple[bool, int]:
        """Whether a replay is equal, and how many results it took from the record."""
        prompt, toolbox = Prompt.load(self.saved.transcript.dialect), Toolbox([builtin("calculator")])
        report = replay(self.saved, prompt=prompt, toolbox=toolbox)
        return report.ok, report.count("recorded")


# ---- looking


def test_each_stop_shows_what_it_is_about(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER] * 6, Scripted([ACT, ANSWER]))
    assert seen.answer == "42"
    assert [line.split(",")[0] for line in seen.asked] == [
        "[Enter asks the model",
        "[Enter goes on",
        "[Enter calls it",
        "[Enter goes on",
        "[Enter asks the model",
        "[Enter goes on",
    ]
    first, second = seen.shown.split("Step 2, before the model")
    sent = Prompt.load().render("What is 6*7?", seen.saved.transcript.specs, ())
    assert "".join(f"+ {line}\n" for line in flatten(sent, "plain").split("\n")) in first
    assert 'stop "\\nObservation"' in first
    assert 'input   + {"expression": "6*7"}' in first
    assert "rule: labels:" in first
    assert 'Step 1, before the tool\ncalculator {"expression": "6*7"}\n' in first
    assert "Step 1, the observation\n| 42\n" in first
    assert second.startswith("\n  … ")
    assert '+ Action Input: {"expression": "6*7"}\n+ Observation: 42\n+ Thought:\n' in second
    assert "altered" not in seen.text
    assert all(len(line) < 80 for line in seen.asked)
    assert seen.replays == (True, 0)


def test_the_prompt_and_the_tokens_are_shown_when_asked_for(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [*[ENTER] * 4, "p", "T", "x", ENTER, ENTER], Scripted([ACT, ANSWER]))
    shown = seen.shown.split("Step 2, before the model")[1]
    assert "\n  You answer questions step by step." in shown
    assert "+ Observation: 42" in shown.split("lines as they were sent before")[1]
    assert "The last prompt 3" in shown
    assert " in, 8 out." in shown
    assert "x is none of these." in shown


def test_what_was_forgiven_and_what_was_invented_is_shown(tmp_path: Path) -> None:
    broken = read_breaks(["no-stop", "smart-quotes"])
    seen = Seen(tmp_path, [ENTER] * 6, Scripted([ACT + FORGED, ANSWER]), breaks=broken)
    assert "invented | Observation: 41" in seen.shown
    assert "repaired: typographic_quotes: " in seen.shown
    assert seen.saved.transcript.turns[0].completion.text.endswith("Final Answer: 41")


def test_a_complaint_of_the_loop_is_shown(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER] * 4, Scripted([" Hm.\nAction: nothing\nAction Input: {}", ANSWER]))
    assert "\n! " in seen.shown
    assert seen.answer == "42"


def test_the_rest_may_go_without_stops(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER, "c"], Scripted([ACT, ACT, ANSWER]))
    assert seen.answer == "42"
    assert len(seen.asked) == 2
    assert "Step 3, the reply" in seen.shown


def test_a_format_that_is_not_known_yet_is_said(tmp_path: Path) -> None:
    class Served(Scripted):
        def describe(self) -> Mapping[str, Any]:
            return {**super().describe(), "format": "chatml" if self.used else None}

    seen = Seen(tmp_path, [ENTER] * 6, Served([ACT, ANSWER]))
    first, second = seen.shown.split("Step 2, before the model")
    assert "its marks are left out here." in first
    assert "+ <|im_start|>user\n+ Question: What is 6*7?<|im_end|>\n" in second
    assert "its marks are left out here." not in second


# ---- changing


def test_an_edited_reply_is_what_the_model_has_said(tmp_path: Path, editor: Callable[..., None]) -> None:
    editor(ACT.replace("6*7", "6*8"))
    seen = Seen(tmp_path, [ENTER, "e", *[ENTER] * 5], Scripted([ACT, ANSWER]))
    turn = seen.saved.transcript.turns[0]
    assert turn.completion.altered == "edited"
    assert turn.completion.text == ACT.replace("6*7", "6*8")
    assert turn.completion.usage.prompt
    assert turn.observations[0] == Observation("48", "tool", "calculator")
    assert "Step 1, the reply, edited" in seen.shown
    assert '+ Action Input: {"expression": "6*8"}\n+ Observation: 48' in seen.shown
    assert seen.replays == (True, 0)
    assert seen.text.count("altered: edited") == 1


def test_what_a_person_wrote_is_shown_as_that(
    home: Home, tmp_path: Path, editor: Callable[..., None]
) -> None:
    editor(ACT.replace("6*7", "6*8"), "a hundred")
    Seen(tmp_path, [ENTER, "e", ENTER, ENTER, "e", *[ENTER] * 3], Scripted([ACT, ANSWER]))
    shown = home.react("show", "run.yaml").output
    assert "reply edited" in shown
    assert "Edited by a person, and not what the tool calculator said" in " ".join(shown.split())
    page = home.react("view", "run.yaml").stdout
    assert "The model wrote, edited" in page
    assert "Edited by a person" in page


def test_an_observation_that_a_person_invents_in_a_reply_is_cut_as_a_model_s_is(
    tmp_path: Path, editor: Callable[..., None]
) -> None:
    editor(ACT + FORGED)
    seen = Seen(tmp_path, [ENTER, "e", *[ENTER] * 5], Scripted([ACT, ANSWER]))
    turn = seen.saved.transcript.turns[0]
    assert (turn.completion.text, turn.completion.altered) == (ACT + FORGED, "edited")
    assert turn.observations[0].text == "42"
    assert seen.replays == (True, 0)


def test_edited_arguments_stand_in_the_reply(tmp_path: Path, editor: Callable[..., None]) -> None:
    editor('{"expression": "6*9"}\n')
    seen = Seen(tmp_path, [ENTER, ENTER, "e", *[ENTER] * 4], Scripted([ACT, ANSWER]))
    turn = seen.saved.transcript.turns[0]
    assert turn.completion.text == ACT.replace("6*7", "6*9")
    assert turn.completion.altered == "edited"
    assert isinstance(turn.step, Act)
    assert turn.step.actions[0].arguments == {"expression": "6*9"}
    assert turn.observations == (Observation("54", "tool", "calculator"),)
    assert '+ Action Input: {"expression": "6*9"}\n+ Observation: 54' in seen.shown
    assert seen.replays == (True, 0)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("{", "This is no JSON: "),
        ("[1]", "The arguments must be one JSON object."),
        ('{"speed": 3}', "The parser would not read a call with these arguments."),
        ("[" * 100_000, "This is no JSON: "),
        (None, "Nothing was changed."),
    ],
)
def test_arguments_that_are_none_change_nothing(
    tmp_path: Path, editor: Callable[..., None], written: str | None, says: str
) -> None:
    editor(written)
    seen = Seen(tmp_path, [ENTER, ENTER, "e", *[ENTER] * 4], Scripted([ACT, ANSWER]))
    assert says in seen.shown
    assert seen.answer == "42"
    assert "altered" not in seen.text


def test_an_edited_observation_is_taken_from_the_record(tmp_path: Path, editor: Callable[..., None]) -> None:
    editor("a hundred\n")
    seen = Seen(tmp_path, [*[ENTER] * 3, "e", *[ENTER] * 3], Scripted([ACT, ANSWER]))
    [observation] = seen.saved.transcript.turns[0].observations
    assert observation == Observation("a hundred", "tool", "calculator", altered="edited")
    assert "+ Observation: a hundred\n" in seen.shown
    assert seen.replays == (True, 1)


def test_a_failure_may_be_made_a_result_and_a_result_a_failure(
    tmp_path: Path, editor: Callable[..., None]
) -> None:
    @tool(effect="pure")
    def calculator(expression: str) -> str:
        "Calculate."
        raise ToolError("out of order")

    editor("Error: still out of order", "42")
    words = [*[ENTER] * 3, "e", "e", *[ENTER] * 3]
    seen = Seen(tmp_path, words, Scripted([ACT, ANSWER]), toolbox=Toolbox([calculator]))
    assert "| Error: out of order\n" in seen.shown
    assert "| Error: still out of order\n" in seen.shown
    assert seen.saved.transcript.turns[0].observations[0].kind == "tool"
    assert seen.unused == []


def test_a_tool_may_be_called_again(tmp_path: Path) -> None:
    calls = []

    @tool(effect="reads")
    def calculator(expression: str) -> str:
        "Calculate."
        calls.append(expression)
        return f"call {len(calls)}"

    seen = Seen(
        tmp_path, [*[ENTER] * 3, "r", *[ENTER] * 3], Scripted([ACT, ANSWER]), toolbox=Toolbox([calculator])
    )
    assert seen.saved.transcript.turns[0].observations[0].text == "call 2"
    assert len(calls) == 2


def test_the_model_may_be_asked_again(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER, "r", *[ENTER] * 5], Scripted([" Hm.", ACT, ANSWER]))
    assert [turn.completion.text for turn in seen.saved.transcript.turns] == [ACT, ANSWER]
    assert seen.replays == (True, 0)


def test_a_model_with_a_seed_is_asked_again_with_the_next_one(tmp_path: Path) -> None:
    class Sampled(Scripted):
        def describe(self) -> Mapping[str, Any]:
            return {**super().describe(), "sampling": {"seed": 5}}

    script = tmp_path / "again.txt"
    script.write_text(f"---\n{ACT}\n")
    seen = Seen(
        tmp_path, [ENTER, "r", *[ENTER] * 5], Sampled([" Hm.", ANSWER]), seed=5, model=f"script:{script}"
    )
    first, second = (turn.completion for turn in seen.saved.transcript.turns)
    assert (first.text, first.seed, first.altered) == (ACT, 6, "")
    assert second.seed is None
    assert loads(dumps(seen.saved).encode()) == seen.saved


def test_several_calls_are_edited_one_by_one(tmp_path: Path, editor: Callable[..., None]) -> None:
    two = ACT + '\nAction: calculator\nAction Input: {"expression": "1+1"}'
    editor('{"expression": "600*700"}', '{"expression": "2+2"}')
    seen = Seen(tmp_path, [ENTER, ENTER, "e", ENTER, "e", *[ENTER] * 5], Scripted([two, ANSWER]))
    turn = seen.saved.transcript.turns[0]
    assert isinstance(turn.step, Act)
    assert [action.arguments["expression"] for action in turn.step.actions] == ["600*700", "2+2"]
    assert [each.text for each in turn.observations] == ["420000", "4"]
    assert seen.replays == (True, 0)


@pytest.mark.parametrize("dialect", ["react", "json", "tags", "paper", "react-zh"])
def test_arguments_can_be_edited_in_every_dialect(
    tmp_path: Path, editor: Callable[..., None], dialect: str
) -> None:
    calls = {
        "react": ACT,
        "react-zh": ' 计算。\n行动: calculator\n行动输入: {"expression": "6*7"}',
        "json": '{"thought": "I calculate.", "action": "calculator", "action_input": {"expression": "6*7"}}',
        "tags": '<thought>x</thought>\n<action>calculator</action>\n<action_input>{"expression": "6*7"}</action_input>',
        "paper": " I calculate.\nAction 1: calculator[6*7]",
    }
    editor('{"expression": "6*9"}')
    answer = '{"thought": "x", "answer": "54"}' if dialect == "json" else " x\nFinal Answer: 54"
    seen = Seen(
        tmp_path, [ENTER, ENTER, "e", *[ENTER] * 4], Scripted([calls[dialect], answer]), dialect=dialect
    )
    assert seen.saved.transcript.turns[0].observations[0].text == "54"
    assert seen.replays == (True, 0)


def test_what_would_not_be_read_as_the_same_call_is_not_written() -> None:
    tools = {"add": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}
    assert rewritten('Action: add\nAction Input: {"a": 1}', tools, 0, {}) is None
    assert rewritten('Action: add\nAction Input: {"a": 1}', tools, 1, {"a": 2}) is None
    assert rewritten("Final Answer: 4", tools, 0, {"a": 2}) is None


# ---- leaving


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("way", ["q", EOFError, KeyboardInterrupt])
def test_whoever_quits_has_what_there_is(tmp_path: Path, place: int, way: str | type[BaseException]) -> None:
    seen = Seen(tmp_path, [*[ENTER] * place, way], Scripted([ACT, ANSWER]))
    outcome = seen.saved.transcript.outcome
    assert outcome is not None
    assert outcome.reason == "interrupted"
    assert outcome.detail == (ACT if place else "")
    assert seen.saved.transcript.turns == ()


def test_ctrl_c_behind_something_typed_only_drops_that(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [Cancelled, *[ENTER] * 6], Scripted([ACT, ANSWER]))
    assert seen.answer == "42"


def test_an_editor_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "/nowhere/no-editor")
    seen = Seen(tmp_path, [ENTER, "e", *[ENTER] * 5], Scripted([ACT, ANSWER]))
    assert "The editor cannot be used: " in seen.shown
    assert seen.answer == "42"


class Interrupted(Scripted):
    def complete(
        self,
        parts: Sequence[Part],
        *,
        stop: Sequence[str] = (),
        deadline: float | None = None,
        constraint: Constraint | None = None,
    ) -> Stream:
        yield " half a thought"
        raise KeyboardInterrupt


def test_ctrl_c_while_the_model_writes_keeps_what_it_wrote(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER], Interrupted([]))
    assert seen.run.outcome.detail == " half a thought"
    assert seen.shown.rstrip().endswith(" half a thought")


# ---- models


def test_a_person_who_is_the_model_is_not_asked_before(tmp_path: Path) -> None:
    human = Human(screen=io.StringIO(), keyboard=io.StringIO(f"{ACT}\n\n{ANSWER}\n\n"))
    seen = Seen(tmp_path, [ENTER] * 4, human)
    assert seen.answer == "42"
    assert "before the model" not in seen.shown
    assert seen.unused == []


def test_a_failing_endpoint_ends_the_run(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER] * 5, Scripted([ACT]))
    assert seen.run.outcome.reason == "error"
    assert "has no reply left" in seen.run.outcome.detail


def test_control_characters_of_a_model_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER] * 2, Scripted([" x\x1b[2J\nFinal Answer: \x1b[31mred"]))
    assert "\x1b" not in seen.shown
    assert "\\x1b[2J" in seen.shown


# ---- files


def test_an_unknown_mark_is_refused_and_none_is_read_as_before(tmp_path: Path) -> None:
    seen = Seen(tmp_path, [ENTER] * 6, Scripted([Completion(ACT, "stop"), ANSWER]))
    document = list(yaml.safe_load_all(seen.text))[1]
    assert set(document["completion"]) == {"text", "finish_reason"}
    with pytest.raises(Exception, match="`altered` is 'by magic'; it must be one of edited, broken"):
        loads(seen.text.replace("finish_reason: stop", "finish_reason: stop\n  altered: by magic").encode())


# ---- the command


def test_stops_need_a_terminal(home: Home) -> None:
    done = home.react("ask", "x", "--step", "-m", home.script(ANSWER))
    assert done.exit_code == 2
    assert "--step needs a terminal: nobody could be asked here." in done.stderr
    assert home.runs == []


def test_a_reply_that_no_editor_can_be_given_changes_nothing(
    tmp_path: Path, editor: Callable[..., None]
) -> None:
    editor("never seen")
    seen = Seen(tmp_path, [ENTER, "e", *[ENTER] * 5], Scripted([" \ud800\nFinal Answer: 42"]))
    assert "The editor cannot be used: " in seen.shown
    assert seen.answer == "42"
