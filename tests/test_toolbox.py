"""Tools: what a function becomes, what a call gives back, and what a user's file may hold."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_agent.errors import ConfigError, ToolError
from react_agent.parsers.step import Action, Span
from react_agent.tools import BUILTIN, Tool, Toolbox, builtin, load_tools, tool
from react_agent.tools.toolbox import shorten


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0
    colour: Colour = Colour.RED


class Query(TypedDict):
    text: str
    limit: NotRequired[int]


def call(one: Tool, **arguments: Any) -> str:
    return Toolbox([one]).call(Action(one.spec.name, arguments, Span(0, 0))).text


def refusal(one: Tool, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(one, **arguments)
    return str(caught.value)


def properties(one: Tool) -> dict[str, Any]:
    return dict(one.spec.parameters["properties"])


# What a function becomes


def test_a_function_becomes_a_spec() -> None:
    @tool
    def weather(city: str, days: int = 1) -> str:
        """Forecast for
        a city.

        More, for people.

        Args:
            city: the town, such as
                "Oslo"
            days (int): how many days
        """
        return f"{city} {days}"

    assert weather.spec.name == "weather"
    assert weather.spec.description == "Forecast for a city."
    assert weather.spec.effect == "reads"
    assert weather.spec.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": 'the town, such as "Oslo"'},
            "days": {"type": "integer", "description": "how many days", "default": 1},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert weather("Oslo", days=2) == "Oslo 2"


def test_the_decorator_takes_a_name_an_effect_a_limit_and_what_it_is_not_for() -> None:
    @tool(name="note-down", effect="writes", not_for="long texts", timeout=2)
    def save(text: str) -> None:
        """Save a note."""

    assert (save.spec.name, save.spec.effect, save.timeout) == ("note-down", "writes", 2)
    assert save.spec.description == "Save a note. Not for long texts."


def test_an_effect_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ConfigError, match=r"'pur'.*pure, reads, writes"):

        @tool(effect="pur")  # type: ignore[arg-type]
        def save(text: str) -> None:
            """Save a note."""


def test_sphinx_parameter_texts() -> None:
    @tool
    def weather(city: str, days: int) -> str:
        """Forecast.

        :param city: the town
            or village
        :param int days: how many
        :returns: a text
        """
        return city * days

    assert properties(weather)["city"]["description"] == "the town or village"
    assert properties(weather)["days"]["description"] == "how many"


def test_a_section_after_args_adds_no_text() -> None:
    @tool
    def weather(city: str) -> str:
        """Forecast.

        Args:
            city: the town

        Returns:
            city: not a parameter text
        """
        return city

    assert properties(weather)["city"]["description"] == "the town"


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (dict, {"type": "object"}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Any, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045
        (str | None, {"type": ["string", "null"]}),
        (list[int] | None, {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}),
        (Annotated[str, "a text"], {"type": "string", "description": "a text"}),
        (
            Annotated[int, "a year", {"minimum": 1}],
            {"type": "integer", "description": "a year", "minimum": 1},
        ),
        (
            Query,
            {
                "type": "object",
                "properties": {"text": {"type": "string"}, "limit": {"type": "integer"}},
                "required": ["text"],
                "additionalProperties": False,
            },
        ),
        (
            Point,
            {
                "type": "object",
                "properties": {
                    "x": {"type": "number"},
                    "y": {"type": "number"},
                    "colour": {"type": "string", "enum": ["red", "blue"]},
                },
                "required": ["x"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_type_hints_become_json_schema(hint: Any, schema: dict[str, Any]) -> None:
    def take(value: Any) -> str:
        """Take."""
        return str(value)

    take.__annotations__["value"] = hint
    assert properties(tool(take))["value"] == schema


@pytest.mark.parametrize(
    "hint", [bytes, set[int], complex, dict[int, str], tuple[int, str], list[bytes], object]
)
def test_a_type_without_json_form_is_refused_with_function_and_parameter(hint: Any) -> None:
    def take(value: Any) -> str:
        """Take."""
        return str(value)

    take.__annotations__["value"] = hint
    with pytest.raises(ConfigError, match=r"'value' of .*take\(\)"):
        tool(take)


def test_functions_that_cannot_be_described_are_refused() -> None:
    def silent(x: int) -> int:
        return x

    def untyped(x) -> int:  # type: ignore[no-untyped-def]
        """Untyped."""
        return 1

    def spread(*values: int) -> int:
        """Spread."""
        return 1

    def lost(x: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821
        """Lost."""
        return 1

    async def later(x: int) -> int:
        """Later."""
        return x

    def typed(x: int) -> int:
        """Typed."""
        return x

    def one_by_one(x: int) -> object:
        """Yields."""
        yield x

    class Thing:
        """A thing."""

        def method(self, x: int) -> int:
            """Method."""
            return x

        shared = classmethod(method)

    for function, words in (
        (one_by_one, "yields"),
        (Thing.method, r"is a method; .*Thing\(\)\.method"),
        (Thing.__dict__["shared"], "is no function"),
        (Thing, "is no function"),
        (functools.partial(typed, x=1), "is no function"),
        ("a name", r"'a name' is no function; .*@tool\(name=\.\.\.\)"),
        (silent, "no docstring"),
        (untyped, "no type hint"),
        (spread, "no JSON form"),
        (lost, "Nowhere"),
        (later, "async"),
    ):
        with pytest.raises(ConfigError, match=words):
            tool(function)


# Arguments


@tool
def plot(point: Point, colour: Colour, query: Query | None = None, sizes: tuple[int, ...] = ()) -> str:
    """Plot."""
    return f"{point} {colour!r} {query} {sizes!r}"


def test_arguments_become_what_the_function_takes() -> None:
    said = call(plot, point={"x": 1, "colour": "blue"}, colour="red", query={"text": "q"}, sizes=[1, 2.0])
    assert said == f"{Point(1.0, 0.0, Colour.BLUE)} {Colour.RED!r} {{'text': 'q'}} (1, 2)"


def test_a_whole_float_is_an_integer_and_an_integer_is_a_number() -> None:
    @tool
    def kinds(count: int, share: float) -> str:
        """Kinds."""
        return f"{count!r} {share!r}"

    assert call(kinds, count=3.0, share=1) == "3 1.0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "`city` (string) is missing; given: nothing"),
        ({"city": "Oslo", "day": 1}, "there is no parameter `day`; parameters: city, days, unit, tags"),
        ({"city": 5}, "`city` must be string; you gave 5"),
        ({"city": "Oslo", "days": "three"}, '`days` must be integer; you gave "three"'),
        ({"city": "Oslo", "days": True}, "`days` must be integer; you gave true"),
        ({"city": "Oslo", "days": 1.5}, "`days` must be integer; you gave 1.5"),
        ({"city": "Oslo", "unit": "K"}, '`unit` must be one of "C", "F"; you gave "K"'),
        ({"city": "Oslo", "tags": ["a", 1]}, "`tags[1]` must be string; you gave 1"),
    ],
)
def test_arguments_that_do_not_fit_name_parameter_expected_and_seen(
    arguments: dict[str, Any], words: str
) -> None:
    @tool
    def weather(
        city: str, days: int = 1, unit: Literal["C", "F"] = "C", tags: list[str] | None = None
    ) -> str:
        """Forecast."""
        raise AssertionError("must not run")

    if "tags" in arguments:
        words = '`tags` must be list of string or null; you gave ["a", 1]'
    assert refusal(weather, **arguments) == words


def test_a_list_item_that_does_not_fit_is_named_by_its_place() -> None:
    @tool
    def total(values: list[float]) -> float:
        """Total."""
        return sum(values)

    assert refusal(total, values=[1, "2"]) == '`values[1]` must be number; you gave "2"'
    assert refusal(total, values=[float("nan")]) == "`values[0]` must be number; you gave NaN"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
@settings(max_examples=80, deadline=None)
def test_any_json_argument_is_either_used_or_refused(value: Any) -> None:
    refused = ""
    try:
        said = call(plot, point=value, colour="red")
    except ToolError as error:
        said, refused = "", str(error)
    assert said.startswith("Point(x=") != ("point" in refused)


def test_an_unknown_tool_lists_the_known_ones() -> None:
    with pytest.raises(ToolError, match=r"no tool 'os.system'; tools: plot"):
        Toolbox([plot]).call(Action("os.system", {}, Span(0, 0)))


# Results


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is\n", "as it is\n"),
        (None, "(no output)"),
        (12, "12"),
        (0.5, "0.5"),
        ({"stadt": "Köln", "n": [1, None]}, '{"stadt": "Köln", "n": [1, null]}'),
        ([Colour.RED, Point(1.0)], '["red", {"x": 1.0, "y": 0.0, "colour": "red"}]'),
        (Point(2.0), '{"x": 2.0, "y": 0.0, "colour": "red"}'),
        ({"when": Path("a")}, '{"when": "a"}'),
        ({(1, 2): "tuple key"}, "{(1, 2): 'tuple key'}"),
        ("half \ud800 sign", "half ? sign"),
    ],
)
def test_a_result_becomes_text(value: Any, text: str) -> None:
    @tool
    def give() -> Any:
        """Give."""
        return value

    assert call(give) == text


def test_a_long_result_keeps_head_and_tail_and_says_how_much_is_missing() -> None:
    lines = [f"line {number:04d}" for number in range(1000)]

    @tool
    def much() -> str:
        """Much."""
        return "\n".join(lines)

    seen = Toolbox([much], max_chars=400).call(Action("much", {}, Span(0, 0)))
    shown = seen.text.split("\n")
    assert len(seen.text) <= 400
    mark = shown.index(f"[… {seen.omitted} characters omitted]")
    assert shown[:mark] == lines[:mark]
    assert shown[mark + 1 :] == lines[-(len(shown) - mark - 1) :]
    assert len("\n".join(lines)) - seen.omitted == len(seen.text) - len(shown[mark]) - 1


@given(st.text(alphabet="ab\n", max_size=900), st.integers(100, 400))
@settings(max_examples=150, deadline=None)
def test_shortening_loses_exactly_what_it_says(text: str, max_chars: int) -> None:
    shown, omitted = shorten(text, max_chars)
    assert len(shown) <= max_chars or omitted == 0
    if omitted == 0:
        assert shown == text
        return
    head, _, tail = shown.partition(f"[… {omitted} characters omitted]")
    assert tail.startswith("\n")
    assert text.endswith(tail[1:])
    start = len(text) - len(tail[1:]) - omitted
    assert text[:start] in (head, head[:-1])


# Failures of a tool


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("no such town\nsecond line"), "ValueError: no such town"),
        (KeyError("x"), "KeyError: 'x'"),
        (RuntimeError(), "RuntimeError"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (ToolError("write the town in Latin letters"), "write the town in Latin letters"),
    ],
)
def test_what_a_tool_raises_becomes_one_line(error: BaseException, words: str) -> None:
    @tool
    def fail() -> str:
        """Fail."""
        raise error

    assert refusal(fail) == words


def test_an_endless_recursion_is_an_error_like_any_other() -> None:
    @tool
    def deeper(n: int) -> int:
        """Go deeper."""
        return int(deeper(n + 1))

    assert refusal(deeper, n=0).startswith("RecursionError: ")


def test_s84_an_endless_loop_ends_at_its_limit_and_frees_the_processor() -> None:
    box = Toolbox([endless], timeout=0.5)
    began = time.monotonic()
    with pytest.raises(ToolError, match=r"^endless timed out after 0\.5 s$"):
        box.call(Action("endless", {}, Span(0, 0)))
    assert 0.5 <= time.monotonic() - began < 1.5
    used = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - used < 0.1


def test_s84_a_loop_that_swallows_every_error_is_told_again() -> None:
    tries: list[int] = []

    @tool(timeout=0.2)
    def stubborn() -> str:
        """Swallow three errors."""
        while len(tries) < 3:
            try:
                while True:
                    pass
            except BaseException:
                tries.append(1)
        return "gave in"

    assert refusal(stubborn) == "stubborn timed out after 0.2 s"
    time.sleep(0.1)
    assert len(tries) == 3


@tool
def endless() -> str:
    """Loop for ever."""
    while True:
        pass


PROGRAM = """
import time
from react_agent.errors import ToolError
from react_agent.parsers.step import Action, Span
from react_agent.tools import Toolbox, tool

@tool
def busy() -> str:
    "Loop for ever."
    while True:
        pass

@tool
def asleep() -> str:
    "Sleep in the operating system."
    time.sleep(60)
    return ""

def run(one, seconds):
    try:
        Toolbox([one], timeout=seconds).call(Action(one.spec.name, {}, Span(0, 0)))
    except ToolError as error:
        print(error, flush=True)
"""


def start(lines: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + lines], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_s84_an_overdue_tool_does_not_delay_the_end_of_the_program() -> None:
    began = time.monotonic()
    process = start("run(busy, 0.3); run(asleep, 0.3)")
    out, err = process.communicate(timeout=20)
    assert out == "busy timed out after 0.3 s\nasleep timed out after 0.3 s\n"
    assert (err, process.returncode) == ("", 0)
    assert time.monotonic() - began < 8


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("which", ["busy", "asleep"])
def test_s83_ctrl_c_reaches_the_caller_at_once(which: str) -> None:
    process = start(
        f"try:\n    print('go', flush=True); run({which}, 60)\n"
        "except KeyboardInterrupt:\n    print('stopped', flush=True)"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    time.sleep(0.2)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (out, err, process.returncode) == ("stopped\n", "", 0)
    assert time.monotonic() - began < 2


def test_a_call_from_another_thread_works_too() -> None:
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(call(plot, point={"x": 1}, colour="red")))
    thread.start()
    thread.join(5)
    assert len(seen) == 1


# The box itself


def named(name: str) -> Tool:
    def nothing() -> None:
        """Nothing."""

    return tool(name=name)(nothing)


@pytest.mark.parametrize("name", ["", "1st", "two words", "a.b", "naïve", "a\n", "-a"])
def test_names_that_are_not_one_word_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        Toolbox([dataclasses.replace(plot, spec=dataclasses.replace(plot.spec, name=name))])


def test_good_names_keep_their_order() -> None:
    names = ["b", "A_1", "_x", "c-d"]
    assert [spec.name for spec in Toolbox(map(named, names)).specs] == names


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two tools are called 'same'"):
        Toolbox([named("same"), named("same")])


def test_a_function_without_the_decorator_is_refused() -> None:
    with pytest.raises(ConfigError, match="put @tool above"):
        Toolbox([print])  # type: ignore[list-item]


def test_limits_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_chars is 5"):
        Toolbox([], max_chars=5)
    with pytest.raises(ConfigError, match="timeout is 0"):
        Toolbox([], timeout=0)
    with pytest.raises(ConfigError, match="timeout of slow is -1"):
        Toolbox([tool(name="slow", timeout=-1)(named("x").function)])


# Finding tools


def test_every_built_in_tool_is_what_its_name_says() -> None:
    assert [builtin(name).spec.name for name in BUILTIN] == list(BUILTIN)


def test_an_unknown_built_in_names_a_near_one() -> None:
    with pytest.raises(ConfigError, match="did you mean calculator"):
        builtin("calculater")
    with pytest.raises(ConfigError, match="there are: calculator, current_time"):
        builtin("zzz")


def write(folder: Path, text: str) -> Path:
    file = folder / "mine.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return file


def test_a_file_gives_its_tools_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("FACTOR = 3\n")
    file = write(
        tmp_path,
        '''
        from __future__ import annotations
        import dataclasses
        from beside import FACTOR
        from react_agent.tools import tool
        from react_agent.tools.toolbox import Toolbox

        @dataclasses.dataclass
        class Pair:
            a: int
            b: int

        @tool
        def zeta(pair: Pair) -> int:
            """Times."""
            return FACTOR * pair.a * pair.b

        @tool(effect="reads")
        def alpha() -> str:
            """Nothing."""
            return ""

        def no_tool() -> None: ...
        ''',
    )
    tools = load_tools(file)
    assert [one.spec.name for one in tools] == ["zeta", "alpha"]
    assert call(tools[0], pair={"a": 2, "b": 5}) == "30"
    assert str(tmp_path) not in sys.path


def test_a_list_tools_may_hold_plain_functions(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '''
        from react_agent.tools import builtin
        def double(x: int) -> int:
            """Double."""
            return 2 * x
        def hidden(x: int) -> int:
            """Hidden."""
            return x
        TOOLS = [double]
        ''',
    )
    assert [one.spec.name for one in load_tools(str(file))] == ["double"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = (\n", r"mine\.py:1: not valid Python: '\(' was never closed"),
        ("\n\nimport nowhere_at_all\n", r"mine\.py:3: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("def f():\n    1/0\nf()\n", r"mine\.py:2: ZeroDivisionError"),
        ("import sys\nsys.exit(4)\n", r"mine\.py:2: SystemExit: 4"),
        ("x = 1\n", r"mine\.py: no tool found"),
        ("TOOLS = []\n", r"mine\.py: no tool found"),
        ("TOOLS = 5\n", r"mine\.py: TOOLS must be a list"),
        ("TOOLS = [5]\n", r"mine\.py: TOOLS holds 5"),
        ("TOOLS = [lambda x: x]\n", r"mine\.py: <lambda>\(\) has no docstring"),
        (
            "from react_agent.tools import tool\n@tool\ndef f(x: bytes):\n    'F.'\n",
            r"mine\.py:[23]: parameter 'x' of f\(\): type bytes has no JSON form",
        ),
        ("x = '\0'\n", r"mine\.py(:1)?: not valid Python"),
    ],
)
def test_a_file_that_cannot_be_used_names_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_tools(write(tmp_path, text))


def test_a_method_of_an_object_is_a_function(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '''
        class Thing:
            def double(self, x: int) -> int:
                """Double."""
                return 2 * x
        TOOLS = [Thing().double]
        ''',
    )
    assert call(load_tools(file)[0], x=4) == "8"


def test_two_tools_of_one_name_say_where_they_stand(tmp_path: Path) -> None:
    body = "from react_agent.tools import tool\n@tool\ndef {}(x: int) -> int:\n    'F.'\n    return x\n"
    (tmp_path / "a.py").write_text(body.format("twice"))
    (tmp_path / "b.py").write_text(body.format("twice"))
    (tmp_path / "c.py").write_text(body.format("calculator"))
    with pytest.raises(ConfigError, match=r"called 'twice': .*a\.py:2 and .*b\.py:2"):
        Toolbox([*load_tools(tmp_path / "a.py"), *load_tools(tmp_path / "b.py")])
    with pytest.raises(ConfigError, match=r"called 'calculator': one that comes along and .*c\.py:2"):
        Toolbox([builtin("calculator"), *load_tools(tmp_path / "c.py")])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a file without end")
def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="longer than"):
        load_tools("/dev/zero")


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.py: cannot be read: No such file"):
        load_tools(tmp_path / "none.py")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_tools(tmp_path)


def test_importing_the_tools_loads_none_of_them() -> None:
    heavy = ["ast", "fractions", "zoneinfo", "ctypes", "difflib", "requests", "yaml"]
    script = f"""
import sys
before = set(sys.modules)
import react_agent.tools
import json
print(json.dumps([name for name in {heavy!r} if name in sys.modules and name not in before]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    # `inspect`, which `dataclasses` needs, loads `ast`.
    assert loaded <= {"ast"}


def test_calls_that_are_started_together_run_side_by_side() -> None:
    @tool
    def slow(text: str) -> str:
        """Wait, then give the text back."""
        time.sleep(0.3)
        return text

    box = Toolbox([slow])
    began = time.monotonic()
    waits = [box.start(Action("slow", {"text": text}, Span(0, 0))) for text in "abc"]
    assert [wait().text for wait in waits] == ["a", "b", "c"]
    assert time.monotonic() - began < 0.8


def test_a_started_call_that_cannot_run_says_so_when_it_is_waited_for() -> None:
    box = Toolbox([endless], timeout=0.3)
    waits = [box.start(Action(name, {}, Span(0, 0))) for name in ("nothing", "endless")]
    with pytest.raises(ToolError, match="no tool 'nothing'"):
        waits[0]()
    with pytest.raises(ToolError, match=r"timed out after 0\.3 s"):
        waits[1]()
