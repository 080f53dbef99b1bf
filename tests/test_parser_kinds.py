"""Further examples of every kind of reply, with other tools and languages, and kinds that are mixed."""

from __future__ import annotations

from typing import Any

import pytest
from parser_cases import fed_text, schemas

from react_agent.parsers import Act, FinalAnswer, Reader, Step, read


def tool(*required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()
        },
        "required": list(required),
        "additionalProperties": False,
    }


TOOLS = {
    **schemas("more"),
    "calculator": tool("expression", expression="string"),
    "write_file": tool("path", "content", path="string", content="string"),
    "wait": tool("seconds", seconds="number"),
    "switch": tool("on", on="boolean"),
    "set_tags": tool("tags", tags={"type": "array", "items": {"type": "string"}}),
    "pick": tool("numbers", numbers={"type": "array", "items": {"type": "integer"}}),
    "ask_user": tool("question", question="string", answer="string"),
    "store": tool("record", record="object"),
}

Meaning = tuple[str, Any]


def calls(*named: tuple[str, dict[str, Any]]) -> Meaning:
    return "calls", list(named)


def answer(text: str) -> Meaning:
    return "answer", text


def fault(code: str) -> Meaning:
    return "fault", code


LABELS: list[tuple[str, Meaning]] = [
    (
        'Thought: x\n**Action:**\n```\nweather\n```\n**Action Input:**\n```json\n{"city": "Oslo"}\n```',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '### Thought\nlook it up\n### Action\nweather\n### Action Input\n{"city": "Oslo"}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '## thought:\nlook\n## action:\nweather\n## action input:\n{"city": "Quito"}',
        calls(("weather", {"city": "Quito"})),
    ),
    ("Step 1\nThought: a\nAction: now\nAction Input: {}", calls(("now", {}))),
    ("(1) Thought: a\n(2) Action: now\n(3) Action Input: {}", calls(("now", {}))),
    (
        '* **Thought:** a\n* **Action:** weather\n* **Action Input:** {"city": "Rome"}',
        calls(("weather", {"city": "Rome"})),
    ),
    ('> **Action:** weather\n> **Action Input:** {"city": "Rome"}', calls(("weather", {"city": "Rome"}))),
    (
        '**思考**：要查天气\n**行动**：weather\n**行动输入**：{"city": "北京"}',
        calls(("weather", {"city": "北京"})),
    ),
    ("思考1：看\n动作1：weather\n动作输入1：北京", calls(("weather", {"city": "北京"}))),
    ('思考：看\n工具：weather\n参数：{"city": "上海"}', calls(("weather", {"city": "上海"}))),
    ('【思考】看\n【行动】weather\n【行动输入】{"city": "上海"}', calls(("weather", {"city": "上海"}))),
    ("「最终答案」：42", answer("42")),
    ("最终回答：你好\n用户：再问", answer("你好")),
    ('Action ：weather\nAction Input ：{"city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ('Action = weather\nAction Input = {"city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ("Thought: done\nFinal Answer = 42", answer("42")),
    ("Final Answer 42 bottles", answer("42 bottles")),
    ("Final Answer\n42 bottles", answer("42 bottles")),
    ("Thought: ok\nFinalAnswer: x", answer("x")),
    ("Thought: ok\nfinal-answer: x", answer("x")),
    ("Thought: ok\nAnswer: x", answer("x")),
    ("Thought: ok\nFinal Response: x", answer("x")),
    ('Function: weather\nFunction Input: {"city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ('Thought: t\nAction: weather\nParameters: {"city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ("Thought: t\nAction: weather\nInput: Oslo", calls(("weather", {"city": "Oslo"}))),
    (
        "Thought:\n\nneed it\n\n\nAction:\n\n\nweather\n\nAction Input:\n\n\nOslo\n\n",
        calls(("weather", {"city": "Oslo"})),
    ),
    ("Action: Action: weather\nAction Input: Action Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    (
        "<thought>need</thought><action>weather</action><action_input>Oslo</action_input>",
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '<thought>\nneed\n</thought>\n<action>\nweather\n</action>\n<action_input>\n{"city": "Oslo"}'
        "\n</action_input>\n<observation>12</observation>",
        calls(("weather", {"city": "Oslo"})),
    ),
    ("<thought>known</thought>\n<answer>42</answer>", answer("42")),
    ("<action>now</action>", calls(("now", {}))),
    (
        '{"thought": "t", "tool": "weather", "tool_input": {"city": "Oslo"}}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '```json\n{"thought": "t", "action": "weather", "action_input": "Oslo"}\n```',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('{"thought": "t", "answer": "42"}', answer("42")),
    ('{"action": "final_answer", "action_input": "42"}', answer("42")),
    ("Thought: a\nPlan: b\nAction: now\nAction Input: {}\nStatus: waiting", calls(("now", {}))),
]

NAMES: list[tuple[str, Meaning]] = [
    ("Action: **`weather`**\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: 'weather'\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: <weather>\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: weather,\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: weather - get the forecast\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: weather tool\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: I will call `run_sql` now.\nAction Input: SELECT 1", fault("AMBIGUOUS_TOOL")),
    ("Action: call run_sql please\nAction Input: SELECT 1", calls(("run_sql", {"query": "SELECT 1"}))),
    ("Action: 使用 weather 工具查询\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: 使用weather工具\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    (
        'Action: SAVE NOTE\nAction Input: {"title": "a", "body": "b"}',
        calls(("save_note", {"title": "a", "body": "b"})),
    ),
    (
        'Action: save.note\nAction Input: {"title": "a", "body": "b"}',
        calls(("save_note", {"title": "a", "body": "b"})),
    ),
    (
        'Action: [save_note]\nAction Input: {"title": "a", "body": "b"}',
        calls(("save_note", {"title": "a", "body": "b"})),
    ),
    ("Action: tool:weather\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: default_api.weather\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Action: delete_notes\nAction Input: {}", fault("UNKNOWN_TOOL")),
    ("Action: save_notes\nAction Input: {}", fault("UNKNOWN_TOOL")),
    ("Action: os.system\nAction Input: ls", fault("UNKNOWN_TOOL")),
    ("Action: no tool needed\nFinal Answer: hi", answer("hi")),
    ("Thought: x\nAction: 无\n最终答案：好", answer("好")),
    ("Thought: x\nAction: None\nAction Input: None\nFinal Answer: Paris", answer("Paris")),
    ("Thought: x\nAction: none\nAction Input: none", fault("MISSING_ACTION")),
    ('Action: respond\nAction Input: {"text": "hello"}', answer("hello")),
    ('Action: Final Answer\nAction Input: {"a": 1, "b": 2}', answer('{"a": 1, "b": 2}')),
    ("Action: 最终答案\nAction Input: 你好", answer("你好")),
    ('Action: finish("done it")', answer("done it")),
    ("Action: Finish[done [it]]", answer("done [it]")),
    ("Thought: x\nAction: Search[Oslo]", fault("UNKNOWN_TOOL")),
    ('Action: weather{"city": "Lyon"}', calls(("weather", {"city": "Lyon"}))),
    ('Action: weather: {"city": "Lyon"}', calls(("weather", {"city": "Lyon"}))),
    ('Action: save_note {"title": "a",\n "body": "b"}', calls(("save_note", {"title": "a", "body": "b"}))),
    ('Action: save_note(title="a",\n  body="b")', calls(("save_note", {"title": "a", "body": "b"}))),
    ("Action: weather, run_sql\nAction Input: x", fault("AMBIGUOUS_TOOL")),
    ("Action: weather and now\nAction Input: x", fault("AMBIGUOUS_TOOL")),
    ('Action: weather Action Input: {"city": "Nice"}', calls(("weather", {"city": "Nice"}))),
    ("Action: weather, Action Input: Nice", calls(("weather", {"city": "Nice"}))),
    ('Action: weather\n{"city": "Nice"}', calls(("weather", {"city": "Nice"}))),
    ('Action: weather\n```json\n{"city": "Nice"}\n```', calls(("weather", {"city": "Nice"}))),
]

FUNCTIONS: list[tuple[str, Meaning]] = [
    ("Action: weather('Oslo', 3)", calls(("weather", {"city": "Oslo", "days": 3}))),
    ("Action: weather(Oslo)", calls(("weather", {"city": "Oslo"}))),
    ("Action: now()", calls(("now", {}))),
    ("Action: add(a=-2, b=+3)", calls(("add", {"a": -2, "b": 3}))),
    ("Action: add[2, 5]", calls(("add", {"a": 2, "b": 5}))),
    ("Action: calculator[2**10]", calls(("calculator", {"expression": "2**10"}))),
    ("Action: calculator(17 * 23)", calls(("calculator", {"expression": "17 * 23"}))),
    ("Action: calculator((3+4)*2)", calls(("calculator", {"expression": "(3+4)*2"}))),
    ("Action: calculator(expression='2+2')", calls(("calculator", {"expression": "2+2"}))),
    ("Action: add(2+3, 4)", fault("BAD_INPUT")),
    ('Action: weather(city="Oslo", units="metric")', fault("UNKNOWN_ARG")),
    ("Action: weather(days=3)", fault("MISSING_ARG")),
    (
        "Action: save_note(title=\"a (b)\", body='c, d=e')",
        calls(("save_note", {"title": "a (b)", "body": "c, d=e"})),
    ),
    ('weather(city="Oslo")', calls(("weather", {"city": "Oslo"}))),
    ("now()", calls(("now", {}))),
    (
        "[weather(city='Rome'), weather(city='Bari')]",
        calls(("weather", {"city": "Rome"}), ("weather", {"city": "Bari"})),
    ),
    ('```python\nweather(city="Oslo")\n```', calls(("weather", {"city": "Oslo"}))),
    ('```tool_code\nweather(city="Oslo")\n```', calls(("weather", {"city": "Oslo"}))),
    ("Action: weather --city 'New York' --days=3", calls(("weather", {"city": "New York", "days": 3}))),
    ("Action: weather --city New York", calls(("weather", {"city": "New York"}))),
]

INPUTS: list[tuple[str, Meaning]] = [
    (
        'Action: weather\nAction Input: {"city": "Oslo"}\n\nNow I wait.\n\nObservation: cold',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        'Action: weather\nAction Input: {"city": "Oslo"} and then I will see',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        'Action: shell\nAction Input: echo "a" && echo "b"',
        calls(("shell", {"command": 'echo "a" && echo "b"'})),
    ),
    ('Action: shell\nAction Input: "a" or "b"', calls(("shell", {"command": '"a" or "b"'}))),
    ("Action: shell\nAction Input: `ls -la`", calls(("shell", {"command": "ls -la"}))),
    (
        "Action: run_sql\nAction Input: ```sql\nSELECT 1\nFROM t\n```",
        calls(("run_sql", {"query": "SELECT 1\nFROM t"})),
    ),
    (
        "Action: run_sql\nAction Input:\n```\nSELECT 1\n```\nObservation: 1",
        calls(("run_sql", {"query": "SELECT 1"})),
    ),
    ("Action: run_sql\nAction Input: [id] FROM t", calls(("run_sql", {"query": "[id] FROM t"}))),
    ("Action: run_sql\nAction Input: 'a' = 'b'", calls(("run_sql", {"query": "'a' = 'b'"}))),
    (
        'Action: run_sql\nAction Input: "line one\nObservation: no\nline"',
        calls(("run_sql", {"query": "line one\nObservation: no\nline"})),
    ),
    ("Action: calculator\nAction Input: (3+4)*2", calls(("calculator", {"expression": "(3+4)*2"}))),
    ("Action: calculator\nAction Input: 12,345 * 2", calls(("calculator", {"expression": "12,345 * 2"}))),
    (
        'Action: calculator\nAction Input: {"expression": 17*23}',
        calls(("calculator", {"expression": "17*23"})),
    ),
    (
        'Action: calculator\nAction Input: {"expression": (3+4)*2}',
        calls(("calculator", {"expression": "(3+4)*2"})),
    ),
    (
        'Action: calculator\nAction Input: {"expression": 2**10}',
        calls(("calculator", {"expression": "2**10"})),
    ),
    (
        'Action: calculator\nAction Input: {"expression": 12,345 * 2}',
        calls(("calculator", {"expression": "12,345 * 2"})),
    ),
    (
        'Action: calculator\nAction Input: {"expression": sqrt(16) + max(2, 3)}',
        calls(("calculator", {"expression": "sqrt(16) + max(2, 3)"})),
    ),
    ('Action: calculator\nAction Input: {"expression": 42}', calls(("calculator", {"expression": "42"}))),
    ('Action: calculator\nAction Input: {"expression": 1.50}', calls(("calculator", {"expression": "1.50"}))),
    ("Action: calculator\nAction Input: 42", calls(("calculator", {"expression": "42"}))),
    ("Action: wait\nAction Input: 2+3", fault("BAD_INPUT")),
    ("Action: wait\nAction Input: 2.5", calls(("wait", {"seconds": 2.5}))),
    ('Action: wait\nAction Input: "2.5"', calls(("wait", {"seconds": 2.5}))),
    ("Action: wait\nAction Input: soon", fault("BAD_TYPE")),
    ('Action: wait\nAction Input: {"seconds": 1e999}', fault("BAD_TYPE")),
    ('Action: wait\nAction Input: {"seconds": Infinity}', fault("BAD_TYPE")),
    ('Action: wait\nAction Input: {"seconds": -Infinity}', fault("BAD_TYPE")),
    ('Action: wait\nAction Input: {"seconds": "1e3"}', calls(("wait", {"seconds": 1000.0}))),
    ('Action: store\nAction Input: {"record": {"x": NaN}}', fault("BAD_TYPE")),
    ('Action: store\nAction Input: {"record": {"x": 1e999}}', fault("BAD_TYPE")),
    (
        'Action: write_file\nAction Input: {"path": "C:\\Users\\new\\table.txt", "content": "x"}',
        calls(("write_file", {"path": "C:\\Users\\new\\table.txt", "content": "x"})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "a.py", "content": "print("hi")"}',
        calls(("write_file", {"path": "a.py", "content": 'print("hi")'})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "a.json", "content": "{"a": 1, "b": [2]}"}',
        calls(("write_file", {"path": "a.json", "content": '{"a": 1, "b": [2]}'})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "a.py", "content": "x = {\n  1: 2\n}\nprint(x)"}',
        calls(("write_file", {"path": "a.py", "content": "x = {\n  1: 2\n}\nprint(x)"})),
    ),
    ('Action: write_file\nAction Input: {"path": "a.txt", "content": "hal', fault("TRUNCATED")),
    (
        'Action: write_file\nAction Input: {"path": "a.txt", "content": "hal"',
        calls(("write_file", {"path": "a.txt", "content": "hal"})),
    ),
    ('Action: write_file\nAction Input: {"path": "a.txt", "content":', fault("TRUNCATED")),
    ('Action: write_file\nAction Input: {"path": "a.txt",', fault("TRUNCATED")),
    ('Action: weather\nAction Input: {"city": "Oslo"\nObservation: 12', calls(("weather", {"city": "Oslo"}))),
    (
        'Action: weather\nAction Input: {"city": "Oslo"\n\nThought: I wait',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('Action: weather\nAction Input: {"city": "Oslo", }', calls(("weather", {"city": "Oslo"}))),
    ("Action: weather\nAction Input: {'city': 'L\\'Aquila'}", calls(("weather", {"city": "L'Aquila"}))),
    ("Action: weather\nAction Input: {'city': 'L'Aquila'}", calls(("weather", {"city": "L'Aquila"}))),
    ("Action: weather\nAction Input: {city: Oslo, days: 3}", calls(("weather", {"city": "Oslo", "days": 3}))),
    ('Action: weather\nAction Input: {"city": Oslo}', calls(("weather", {"city": "Oslo"}))),
    (
        'Action: weather\nAction Input: {"city": "Oslo" "days": 2}',
        calls(("weather", {"city": "Oslo", "days": 2})),
    ),
    ("Action: weather\nAction Input: {„city“: „Oslo“}", calls(("weather", {"city": "Oslo"}))),
    (
        'Action: weather\nAction Input: {"city"："Oslo"，"days"：３}',
        calls(("weather", {"city": "Oslo", "days": 3})),
    ),
    ("Action: weather\nAction Input: city: Oslo\ndays: 3", calls(("weather", {"city": "Oslo", "days": 3}))),
    ("Action: weather\nAction Input: city=Oslo, days=3", calls(("weather", {"city": "Oslo", "days": 3}))),
    ('Action: weather\nAction Input: city="Oslo", days=3', calls(("weather", {"city": "Oslo", "days": 3}))),
    ("Action: weather\nAction Input: city = Oslo", calls(("weather", {"city": "Oslo"}))),
    ('Action: weather\nAction Input: weather(city="Oslo")', calls(("weather", {"city": "Oslo"}))),
    ("Action: weather\nAction Input: --city Oslo", calls(("weather", {"city": "Oslo"}))),
    ('Action: weather\nAction Input: [{"city": "Oslo"}]', calls(("weather", {"city": "Oslo"}))),
    (
        'Action: weather\nAction Input: [{"city": "Oslo"}, {"city": "Rome"}]',
        calls(("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})),
    ),
    (
        'Action: weather\nAction Input: {"city": "Oslo"}, {"city": "Rome"}',
        calls(("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})),
    ),
    (
        'Action: weather\nAction Input: {"arguments": "{\\"city\\": \\"Oslo\\"}"}',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('Action: weather\nAction Input: {"properties": {"city": "Oslo"}}', calls(("weather", {"city": "Oslo"}))),
    (
        'Action: weather\nAction Input: {"type": "object", "properties": {"city": {"type": "string"}}}',
        fault("SCHEMA_ECHO"),
    ),
    (
        'Action: weather\nAction Input: {"name": "weather", "arguments": {"city": "Oslo"}}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        'Action: weather\nAction Input: {"tool": "weather", "args": {"city": "Oslo"}}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        "Action: save_note\nAction Input:\n- title: a\n- body: b",
        calls(("save_note", {"title": "a", "body": "b"})),
    ),
    (
        "Action: save_note\nAction Input:\ntitle: plan\nbody: >\n  one\n  two\ntags:\n  - x\n  - y",
        calls(("save_note", {"title": "plan", "body": "one two", "tags": ["x", "y"]})),
    ),
    (
        "Action: save_note\nAction Input:\ntitle: no\nbody: 1.10",
        calls(("save_note", {"title": "no", "body": "1.10"})),
    ),
    ("Action: save_note\nAction Input: title: a\nbody: b\nunits: c", fault("UNKNOWN_ARG")),
    (
        "Action: save_note\nAction Input: <title>a</title>\n<body>\nx < y\n</body>",
        calls(("save_note", {"title": "a", "body": "x < y"})),
    ),
    ("Action: now\nAction Input: null", calls(("now", {}))),
    ("Action: now\nAction Input: ()", calls(("now", {}))),
    ("Action: now\nAction Input:", calls(("now", {}))),
    ("Action: now\nAction Input: no input", calls(("now", {}))),
    ("Action: now\nAction Input: N/A", calls(("now", {}))),
    ("Action: weather\nAction Input:", fault("MISSING_INPUT")),
    ("Action: weather", fault("MISSING_INPUT")),
    ("Action: weather\nAction Input: {}", fault("MISSING_ARG")),
    ("Action: set_tags\nAction Input: x, y", calls(("set_tags", {"tags": ["x, y"]}))),
    ('Action: set_tags\nAction Input: ["x", "y"]', calls(("set_tags", {"tags": ["x", "y"]}))),
    ("Action: set_tags\nAction Input: ['x', 'y']", calls(("set_tags", {"tags": ["x", "y"]}))),
    ("Action: set_tags\nAction Input: {\"tags\": \"['x', 'y']\"}", calls(("set_tags", {"tags": ["x", "y"]}))),
    ('Action: set_tags\nAction Input: {"tags": [x, y]}', calls(("set_tags", {"tags": ["x", "y"]}))),
    ('Action: pick\nAction Input: {"numbers": ["1", 2.0]}', calls(("pick", {"numbers": [1, 2]}))),
    ('Action: pick\nAction Input: {"numbers": 5}', calls(("pick", {"numbers": [5]}))),
    ('Action: pick\nAction Input: {"numbers": ["a"]}', fault("BAD_TYPE")),
    ("Action: pick\nAction Input: [1, 2]", calls(("pick", {"numbers": [1, 2]}))),
    ('Action: switch\nAction Input: {"on": "true"}', calls(("switch", {"on": True}))),
    ('Action: switch\nAction Input: {"on": "TRUE"}', calls(("switch", {"on": True}))),
    ('Action: switch\nAction Input: {"on": 1}', fault("BAD_TYPE")),
    ('Action: switch\nAction Input: {"on": "maybe"}', fault("BAD_TYPE")),
    ("Action: switch\nAction Input: True", calls(("switch", {"on": True}))),
    ("Action: switch\nAction Input: on: yes", calls(("switch", {"on": True}))),
    ('Action: store\nAction Input: {"record": "{\\"a\\": 1}"}', calls(("store", {"record": {"a": 1}}))),
    ('Action: store\nAction Input: {"record": "x"}', fault("BAD_TYPE")),
    ('Action: store\nAction Input: {"a": 1}', fault("UNKNOWN_ARG")),
    ('Action: weather\nAction Input: {"city": null}', fault("BAD_TYPE")),
    ('Action: weather\nAction Input: {"city": "Oslo", "days": null}', calls(("weather", {"city": "Oslo"}))),
    ('Action: weather\nAction Input: {"city": ["Oslo"]}', fault("BAD_TYPE")),
    ('Action: weather\nAction Input: {"city": {"name": "Oslo"}}', fault("BAD_TYPE")),
    ('Action: weather\nAction Input: {"city": true}', fault("BAD_TYPE")),
    (
        'Action: weather\nAction Input: {"city": "Oslo", "days": "3"}',
        calls(("weather", {"city": "Oslo", "days": 3})),
    ),
    ('Action: weather\nAction Input: {"city": "Oslo", "days": "three"}', fault("BAD_TYPE")),
    ('Action: weather\nAction Input: {"city": "Oslo", "days": true}', fault("BAD_TYPE")),
    ('Action: set_unit\nAction Input: {"unit": "KELVIN"}', calls(("set_unit", {"unit": "Kelvin"}))),
    ('Action: set_unit\nAction Input: {"unit": "Fahrenheit"}', fault("BAD_TYPE")),
    ("Action: set_unit\nAction Input: kelvin", calls(("set_unit", {"unit": "Kelvin"}))),
    (
        "Action: ask_user\nAction Input:\nquestion: how old?\nanswer: 5",
        calls(("ask_user", {"question": "how old?", "answer": "5"})),
    ),
]

DIALECTS: list[tuple[str, Meaning]] = [
    (
        '<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>\n<tool_call>{"nam'
        'e": "now", "arguments": {}}</tool_call>',
        calls(("weather", {"city": "Oslo"}), ("now", {})),
    ),
    ('<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}', calls(("weather", {"city": "Oslo"}))),
    (
        '<tool_call>\n<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('<tool_call>{"name": "translate", "arguments": {"x": 1}}</tool_call>', fault("UNKNOWN_TOOL")),
    ('<tool_call>{"name": "save_note", "arguments": {"title": "t", "body": "abc', fault("TRUNCATED")),
    (
        '<tools>{"name": "weather", "arguments": {"city": "Oslo"}}</tools>',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '<tool_use>{"name": "weather", "input": {"city": "Oslo"}}</tool_use>',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '<|tool_call|>[{"name": "weather", "arguments": {"city": "Oslo"}}]',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('[TOOL_CALLS]weather[CALL_ID]abc123[ARGS]{"city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    (
        '[TOOL_CALLS]weather[ARGS]{"city": "Oslo"}[TOOL_CALLS]now[ARGS]{}',
        calls(("weather", {"city": "Oslo"}), ("now", {})),
    ),
    ('<|python_tag|>weather(city="Oslo")<|eom_id|>', calls(("weather", {"city": "Oslo"}))),
    ('<|python_start|>[weather(city="Oslo")]<|python_end|>', calls(("weather", {"city": "Oslo"}))),
    ('<function=weather>{"city": "Oslo"}</function>', calls(("weather", {"city": "Oslo"}))),
    (
        '<function_calls>\n<invoke name="weather">\n<parameter name="city">Oslo</parameter>\n<parame'
        'ter name="days">3</parameter>\n</invoke>\n</function_calls>',
        calls(("weather", {"city": "Oslo", "days": 3})),
    ),
    (
        "<tool_call>\n<function=run_sql>\n<parameter=query>\nSELECT *\nFROM t\nWHERE a < 3\n</parame"
        "ter>\n</function>\n</tool_call>",
        calls(("run_sql", {"query": "SELECT *\nFROM t\nWHERE a < 3"})),
    ),
    ("<tool_call>\n<function=now>\n</function>\n</tool_call>", calls(("now", {}))),
    (
        "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n<arg_key>days</ar"
        "g_key>\n<arg_value>3</arg_value>\n</tool_call>",
        calls(("weather", {"city": "Oslo", "days": 3})),
    ),
    (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜>'
        "<｜tool▁calls▁end｜>",
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begi"
        'n|>{"city": "Oslo"}<|tool_call_end|><|tool_call_begin|>functions.now:1<|tool_call_argument_'
        "begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        calls(("weather", {"city": "Oslo"}), ("now", {})),
    ),
    (
        '<|START_ACTION|>[{"tool_name": "weather", "parameters": {"city": "Oslo"}}]<|END_ACTION|>',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '<|action_start|><|plugin|>\n{"name": "weather", "parameters": {"city": "Oslo"}}<|action_end|>',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        "<|channel|>analysis<|message|>I think.<|end|><|start|>assistant<|channel|>final<|message|>It rains.",
        answer("It rains."),
    ),
    ('>>>weather\n{"city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ("<tool_call>now</tool_call>", calls(("now", {}))),
    ("I could use <tool_call> here, but no.\nFinal Answer: 4", answer("4")),
    (
        'Final Answer: use <tool_call>{"name": "now", "arguments": {}}</tool_call>',
        answer('use <tool_call>{"name": "now", "arguments": {}}</tool_call>'),
    ),
    (
        'The tag `<tool_call>{"name": "now", "arguments": {}}</tool_call>` is used.',
        answer('The tag `<tool_call>{"name": "now", "arguments": {}}</tool_call>` is used.'),
    ),
    (
        'You can call it:\n```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```\nas shown.',
        answer(
            'You can call it:\n```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```\nas shown.'
        ),
    ),
    (
        'Thought: need\n```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```',
        fault("MISSING_ACTION"),
    ),
    ('Thought: need\n{"action": "weather", "action_input": {"city": "Oslo"}}', fault("MISSING_ACTION")),
    ('I will check.\n{"name": "weather", "arguments": {"city": "Oslo"}}', fault("MISSING_ACTION")),
    ('{"name": "weather", "arguments": {"city": "Oslo"}}\nThat is the call.', fault("MISSING_ACTION")),
    (
        '{"name": "weather", "arguments": {"city": "Oslo"}}\nObservation: 12',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '{"name": "weather", "arguments": {"city": "Oslo"}}\n{"name": "now", "arguments": {}}',
        calls(("weather", {"city": "Oslo"}), ("now", {})),
    ),
    ('{"name": "weather", "arguments": {"city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ('{"temperature": 12, "unit": "C"}', answer('{"temperature": 12, "unit": "C"}')),
    ("[1, 2, 3]", answer("[1, 2, 3]")),
    ("[Note] all good", answer("[Note] all good")),
    ("{ I think\nAction: now\nAction Input: {}", calls(("now", {}))),
]

THINKING: list[tuple[str, Meaning]] = [
    (
        "<think>\nAction: run_sql\nAction Input: DROP\n</think>\n\nAction: now\nAction Input: {}",
        calls(("now", {})),
    ),
    ("Action: run_sql\nAction Input: DROP TABLE x\n</think>\nFinal Answer: ok", answer("ok")),
    ('Action: run_sql\nAction Input: {"query": "DROP TABLE x"}\n</think>\nFinal Answer: ok', answer("ok")),
    ("<think>a</think>", fault("MISSING_ACTION")),
    ("<think>never ends", fault("UNCLOSED_THINK")),
    ("Thought: <think>a</think>b\nAction: now\nAction Input: {}", calls(("now", {}))),
    ("Action: now\n<think>hm</think>\nAction Input: {}", calls(("now", {}))),
    ("Action: now\nAction Input: {}\n<think>hm", calls(("now", {}))),
    ("<|START_THINKING|>Action: run_sql<|END_THINKING|>Final Answer: x", answer("x")),
    ("```thinking\nAction: run_sql\n```\nFinal Answer: x", answer("x")),
    ("<think>a</think>Oslo is nice.", answer("Oslo is nice.")),
    ("I wonder\n</think>\nOslo is nice.", answer("Oslo is nice.")),
    ('<think>a</think>{"name": "now", "arguments": {}}', calls(("now", {}))),
    ('a</think><tool_call>{"name": "now", "arguments": {}}</tool_call>', calls(("now", {}))),
]

TURNS: list[tuple[str, Meaning]] = [
    ("Observation: 12\nThought: b\nFinal Answer: 12", fault("MISSING_ACTION")),
    ("Thought: a\nObservation: b\nAction: now\nAction Input: {}", fault("MISSING_ACTION")),
    ("Thought: a\nAction: now\nAction Input: {}\nFinal Answer: 10", calls(("now", {}))),
    ("Thought: a\nAction: now\nFinal Answer: 10", calls(("now", {}))),
    ("Thought: a\nAction: foo\nAction Input: x\nFinal Answer: 10", fault("UNKNOWN_TOOL")),
    (
        "Thought: a\nAction: now\nAction Input: {}\nThought: a\nAction: now\nAction Input: {}",
        calls(("now", {})),
    ),
    ("Final Answer: one\nThought: hmm\nFinal Answer: two", answer("two")),
    ("Final Answer: 12\nObservation: done", answer("12")),
    ("Final Answer: 12\nHuman: and now?", answer("12")),
    ("Final Answer: 12\nInput: x", answer("12")),
    (
        "Final Answer: ```\nAction: now\nAction Input: {}\n```\nend",
        answer("```\nAction: now\nAction Input: {}\n```\nend"),
    ),
    ("Final Answer:\n```python\nprint(1)\n```", answer("```python\nprint(1)\n```")),
    ('Final Answer: {"a": 1}', answer('{"a": 1}')),
    ("Final Answer: **42**", answer("**42**")),
    ("**Final Answer: 42**", answer("42")),
    ("Final Answer:\n\n- a\n- b\n", answer("- a\n- b")),
    (
        "Final Answer: Steps:\n1. Action plan\n2. Thought work",
        answer("Steps:\n1. Action plan\n2. Thought work"),
    ),
    ("Thought: Do I need to use a tool? No\nFinal Answer: hi", answer("hi")),
    ("Thought: Do I need to use a tool? No\nAI: hi", answer("hi")),
    ("Thought: Do I need to use a tool? Yes\nAction: now\nAction Input: {}", calls(("now", {}))),
    ("AI: hi there", answer("hi there")),
    ("Oslo is nice.\nHuman: and Bergen?\nAI: nice", answer("Oslo is nice.")),
    ("Question: what?\nThought: a\nAction: now\nAction Input: {}", calls(("now", {}))),
    (
        "Question: the input question you must answer\nThought: you should always think about what t"
        "o do\nAction: the action to take, should be one of [weather, now]\nAction Input: the input "
        "to the action\nObservation: the result of the action",
        fault("TEMPLATE_ECHO"),
    ),
    ("Thought: x\nFinal Answer: the final answer to the original input question", fault("TEMPLATE_ECHO")),
    ("<|im_start|>assistant\nThought: x\nAction: now\nAction Input: {}<|im_end|>", calls(("now", {}))),
    ("Action: now<|im_end|>", calls(("now", {}))),
    ("Action: weather\nAction Input: Oslo</s>", calls(("weather", {"city": "Oslo"}))),
    (
        "Action: weather\nAction Input: Oslo<|eot_id|>\n<|start_header_id|>user",
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        "Here is an example:\n```\nAction: now\nAction Input: {}\n```\nThat is how it works.",
        answer("Here is an example:\n```\nAction: now\nAction Input: {}\n```\nThat is how it works."),
    ),
    ("Here is an example:\n```\nAction: now\nAction Input: {}\n```", fault("MISSING_ACTION")),
    ("Aktion: weather\nEingabe: Bonn", fault("MISSING_ACTION")),
    ("Pensée: voir\nOutil: weather\nEntrée: Lyon", fault("MISSING_ACTION")),
]

CHARACTERS: list[tuple[str, Meaning]] = [
    (
        'Action: weather\r\n\r\nAction Input:\r\n{"city": "Oslo"}\r\nObservation: x',
        calls(("weather", {"city": "Oslo"})),
    ),
    ("Action: weather\r\nAction Input: Oslo\r\n", calls(("weather", {"city": "Oslo"}))),
    (
        'A\u200bction: wea\u200bther\nAction Inp\u200but: {"city": "Os\u200blo"}',
        calls(("weather", {"city": "Os\u200blo"})),
    ),
    (
        'Action: weather\nAction Input:\xa0{\xa0"city"\xa0:\u3000"Oslo"\xa0}',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('Action: weather\nAction Input: "Oslo"\nObservat', calls(("weather", {"city": "Oslo"}))),
    ("Action: weather\nAction Input: Oslo\nObservation", calls(("weather", {"city": "Oslo"}))),
    ("行动：weather\n行动输入：Oslo\n观察", calls(("weather", {"city": "Oslo"}))),
]


MIXED: list[tuple[str, Meaning]] = [
    ("Action: Final Answer: 42", answer("42")),
    ("Action: weather\nAction Input: the input to the action", fault("TEMPLATE_ECHO")),
    ('<tool_call>{"name": "now", "arguments": {}, "parameters": {"a": 1}}</tool_call>', fault("BAD_INPUT")),
    ('[weather(city="Oslo"), nothing(x=1)]', fault("UNKNOWN_TOOL")),
    ('[weather(city="Oslo" - ), now()]', fault("TRUNCATED")),
    ('Action: weather(city="Oslo"', fault("TRUNCATED")),
    ('Action: save_note(title="a", body="b', fault("TRUNCATED")),
    ('Action: [weather(city="Oslo")]', calls(("weather", {"city": "Oslo"}))),
    ('Action: [{"action": "weather", "action_input": "Oslo"}]', calls(("weather", {"city": "Oslo"}))),
    ('Action:\n{"action": "Final Answer", "action_input": "42"}', answer("42")),
    ('Action:\n{"city": "Oslo"}', fault("UNKNOWN_TOOL")),
    ('Action:\n{"action": "weather"}', fault("MISSING_INPUT")),
    ('Action:\n{"action": "weather", "action_input": {"city": ', fault("TRUNCATED")),
    ("Action: Finish", fault("EMPTY_FINAL")),
    ("Action: Finish\nAction Input: {broken", answer("{broken")),
    ("Action: weather[Oslo", fault("TRUNCATED")),
    ("Action: run_sql[SELECT 1\nFROM t]", calls(("run_sql", {"query": "SELECT 1\nFROM t"}))),
    ('Action: weather {"city": "Oslo', fault("TRUNCATED")),
    ("Action: add(1, 2", fault("TRUNCATED")),
    ('<tool_call>[weather(city="Oslo"', fault("TRUNCATED")),
    ('<tool_call>{"x": 1}</tool_call>', fault("UNKNOWN_TOOL")),
    ('<|python_tag|>weather(city="Oslo', fault("TRUNCATED")),
    ('[TOOL_CALLS]translate{"x": 1}', fault("UNKNOWN_TOOL")),
    (
        'Action: run_sql\nAction Input: <tool_call>{"name": "weather", "arguments": {"city": "Oslo"}'
        "}</tool_call>",
        fault("AMBIGUOUS_TOOL"),
    ),
    (
        'Action: weather\n<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('Thought: x\nAction Input: {"city": "Oslo"}', fault("MISSING_ACTION")),
    (
        'Thought: x\nAction Input: {"action": "weather", "action_input": "Oslo"}',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('{"thought": "x", "answer": ""}', fault("EMPTY_FINAL")),
    ('Action: now\nAction Input: "none"', calls(("now", {}))),
    ('{"action": "now", "action_input": null}', calls(("now", {}))),
    ('{"action": "now", "action_input": "none"}', calls(("now", {}))),
    ('{"action": "weather", "action_input": null}', fault("BAD_TYPE")),
    (
        '{"action": "weather", "action_input": "{\\"city\\": \\"a\\", \\"city\\": \\"b\\"}"}',
        fault("BAD_INPUT"),
    ),
    ('Action: weather("Oslo", city="Rome")', fault("BAD_INPUT")),
    ('Action: weather\nAction Input: "{\\"city\\": \\"Oslo\\", \\"x\\": 1}"', fault("UNKNOWN_ARG")),
    ('Action: weather\nAction Input: "{curly} text"', calls(("weather", {"city": "{curly} text"}))),
    ('Action: weather\nAction Input: {"city": 5, "days": 2,}', calls(("weather", {"city": "5", "days": 2}))),
    ('Action: weather\nAction Input: {"city": 5.10}', calls(("weather", {"city": "5.10"}))),
    ('Action: weather\nAction Input: {"city": "a" + "b"}', calls(("weather", {"city": "ab"}))),
    ('Action: weather\nAction Input: {"city": """Oslo"""}', calls(("weather", {"city": "Oslo"}))),
    ("Action: weather\nAction Input: {'city': '''Os\nlo'''}", calls(("weather", {"city": "Os\nlo"}))),
    ('Action: weather\nAction Input: """Oslo"""', calls(("weather", {"city": "Oslo"}))),
    ('Action: weather\nAction Input: {"city" => "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ('Action: weather\nAction Input: {"city": "Oslo", "city": "Oslo"}', calls(("weather", {"city": "Oslo"}))),
    ('Action: weather\nAction Input: {: "Oslo"}', fault("BAD_INPUT")),
    ("Action: weather\nAction Input: {\"city\": 'C:\\\\new'}", calls(("weather", {"city": "C:\\new"}))),
    ("Action: weather\nAction Input: {'city': 'a\\tb\\u00e9'}", calls(("weather", {"city": "a\tbé"}))),
    ("Action: weather\nAction Input: {'city': 'say \\\"hi\\\"'}", calls(("weather", {"city": 'say "hi"'}))),
    (
        'Action: weather\nAction Input: {"city": "Oslo" // the capital\n}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        'Action: weather\nAction Input: {"city": "Oslo" # x\n, "days": 2}',
        calls(("weather", {"city": "Oslo", "days": 2})),
    ),
    (
        'Action: weather\nAction Input: {"city": "Oslo" /* a */, "days": 2}',
        calls(("weather", {"city": "Oslo", "days": 2})),
    ),
    (
        'Action: weather\nAction Input: {"city": http://x.org/a}',
        calls(("weather", {"city": "http://x.org/a"})),
    ),
    ('Action: weather\nAction Input: {"city": "Oslo\\"}', fault("TRUNCATED")),
    (
        "Action: run_sql\nAction Input:\n```sql\nSELECT 1\nObservation: 1 row",
        calls(("run_sql", {"query": "SELECT 1"})),
    ),
    ("Action: run_sql\nAction Input:\n```\nSELECT 1", calls(("run_sql", {"query": "SELECT 1"}))),
    ('Action: shell\nAction Input: "a" "b"\n', calls(("shell", {"command": '"a" "b"'}))),
    ('Action: shell\nAction Input: "never closed\nObservation: x', fault("TRUNCATED")),
    ('Action: shell\nAction Input: "a\nb" c\nd"', calls(("shell", {"command": '"a\nb" c\nd"'}))),
    (
        "Action: save_note\nAction Input: <title>a</title> and </title><body>b</body>",
        calls(("save_note", {"title": "a</title> and ", "body": "b"})),
    ),
    ("Action: save_note\nAction Input: <title>a</title>tail<body>b</body>", fault("BAD_INPUT")),
    ("Action: save_note\nAction Input: <title>a</title><other>b</other>", fault("BAD_INPUT")),
    ("Action: save_note\nAction Input: title: a\ntitle: b\nbody: c", fault("BAD_INPUT")),
    (
        "Action: save_note\nAction Input:\ntitle: \"a: b\"\nbody: 'c'",
        calls(("save_note", {"title": "a: b", "body": "c"})),
    ),
    (
        "Action: save_note\nAction Input: title = a, body = b",
        calls(("save_note", {"title": "a", "body": "b"})),
    ),
    (
        "Action: save_note\nAction Input:\n1. title: a\n2. body: b",
        calls(("save_note", {"title": "a", "body": "b"})),
    ),
    (
        "Action: save_note\nAction Input:\n**title**: a\n**body**: b\n\n",
        calls(("save_note", {"title": "a", "body": "b"})),
    ),
    (">>> print(1)\n1", answer(">>> print(1)\n1")),
    ('>>>wer\n{"city": "Oslo"}', answer('>>>wer\n{"city": "Oslo"}')),
    ('a < b</think>{"name": "now", "arguments": {}}', calls(("now", {}))),
    ("### Heading\ntext", answer("### Heading\ntext")),
    ("Final Answer: see ``` here", answer("see ``` here")),
    ("<tool_call> is a tag", answer("<tool_call> is a tag")),
    ("<function=weather>\n<parameter=city>Oslo</parameter>", calls(("weather", {"city": "Oslo"}))),
    ("<function=weather>\n<parameter=city>Oslo", fault("TRUNCATED")),
    (
        '<invoke name="weather"><parameter name="city">Oslo</parameter></invoke>',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '<function name="weather"><param name="city">Oslo</param></function>',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '<function=save_note>\n<parameter=title>a</parameter>\n<parameter=tags>["x", "y"]</parameter'
        ">\n<parameter=body>b</parameter>\n</function>",
        calls(("save_note", {"title": "a", "tags": ["x", "y"], "body": "b"})),
    ),
    (
        '[TOOL_CALLS] [{"name": "weather", "arguments": {"city": "Oslo"}}]\nIt is cold.',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '{"name": "weather", "action": "weather", "arguments": {"city": "Oslo"}}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '{"function": {"name": "weather", "arguments": {"city": "Oslo"}}}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '{"function_call": {"name": "weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}}',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        '{"answer": "42", "action": "weather", "action_input": {"city": "Oslo"}}',
        calls(("weather", {"city": "Oslo"})),
    ),
    ('{"answer": 42}', answer("42")),
    ('{"name": "translate", "arguments": {"x": 1}}', fault("UNKNOWN_TOOL")),
    ('{"name": "weather", "arguments": {"city": "Oslo"}, "id": "c1"}', calls(("weather", {"city": "Oslo"}))),
    ('{"thought": "x", "action": "none", "final_answer": "y"}', answer("y")),
    ('{"thought": "x", "action": "", "answer": "y"}', answer("y")),
    ('Action: weather\nInput: {"city": "Oslo"}\nResult: 12', calls(("weather", {"city": "Oslo"}))),
    ("Action: weather\nAction Input: Oslo\nResult: 12 degrees", calls(("weather", {"city": "Oslo"}))),
    ("Action: weather\nThought: city is Oslo\nAction Input: Oslo", calls(("weather", {"city": "Oslo"}))),
    ("Thought: a\n\nThought: b\nAction: now", calls(("now", {}))),
    ("Thought: x\nFinal Answer:\nAction: now\nAction Input: {}", calls(("now", {}))),
    ("Final Answer: a\nAction: weather\nAction Input: Oslo", answer("a")),
    ("Final Answer: a\nThought: b\nAction: now", answer("a")),
    ("Thought: x\nFinal Answer: 你好\n观察：无", answer("你好")),
    ("Thought: x\nFinal Answer: <think>hm</think>42", answer("42")),
    ("Final Answer: 42</think>", answer("42")),
    ("<answer>42</answer> and more", answer("42")),
    ("<answer>\n42\n</answer>", answer("42")),
    ("<thinking>x</thinking><answer>42</answer>", answer("42")),
    ("<thought>never closed\nAction: now", fault("UNCLOSED_THINK")),
    (
        '<action>{"name": "weather", "arguments": {"city": "Oslo"}}</action>',
        calls(("weather", {"city": "Oslo"})),
    ),
    ("<action>weather</action>\n<tool_input>Oslo</tool_input>", calls(("weather", {"city": "Oslo"}))),
    ('<action>weather(city="Oslo")</action>', calls(("weather", {"city": "Oslo"}))),
    ("Thought: I use <tool_call>\nAction: now", calls(("now", {}))),
    ("Action: now\n```\n```", calls(("now", {}))),
    ('Action: add\nAction Input: {"a": "٣", "b": "１２"}', calls(("add", {"a": 3, "b": 12}))),
    ('Action: add\nAction Input: {"a": "1,000", "b": 1}', fault("BAD_TYPE")),
    ('Action: add\nAction Input: {"a": "−5", "b": 1}', calls(("add", {"a": -5, "b": 1}))),
    ('Action: add\nAction Input: {"a": +5, "b": .5}', calls(("add", {"a": 5, "b": 0.5}))),
    ('Action: add\nAction Input: {"a": 007, "b": 1}', calls(("add", {"a": 7, "b": 1}))),
    ("Action: add\nAction Input: a: 2\nb: 3", calls(("add", {"a": 2, "b": 3}))),
    ("Action: add\nAction Input: 2, 3", fault("BAD_INPUT")),
    ("Action: add\nAction Input: [2, 3]", fault("BAD_INPUT")),
    (
        'Action: compare\nAction Input: {"a": 1, "b": 2, "note": null, "exact": "false"}',
        calls(("compare", {"a": 1, "b": 2, "note": None, "exact": False})),
    ),
    (
        'Action: compare\nAction Input: {"a": 1, "b": 2, "note": "None"}',
        calls(("compare", {"a": 1, "b": 2, "note": "None"})),
    ),
    ('Action: compare\nAction Input: {"a": 1, "b": 2, "exact": ""}', calls(("compare", {"a": 1, "b": 2}))),
    ("Pensamiento: veo\nAcción: weather\nEntrada: Madrid", fault("MISSING_ACTION")),
    ("Мысль: смотрю\nДействие: weather\nВвод: Москва", fault("MISSING_ACTION")),
    ("Acción: now", fault("MISSING_ACTION")),
    ("La respuesta: weather es bueno.", answer("La respuesta: weather es bueno.")),
    ("Lo siento, no puedo abrir páginas.", answer("Lo siento, no puedo abrir páginas.")),
    ("我无法打开网页。", answer("我无法打开网页。")),
    ("Thought: 我需要使用工具吗？不需要\n答案在这里", answer("答案在这里")),
    (
        'Thought: 需要查\nAction: weather\nAction Input: {"city": “奥斯陆”}',
        calls(("weather", {"city": "奥斯陆"})),
    ),
    (
        "Let me think.\n\nAction: weather\n\nAction Input: Oslo\n\nObservation: 5\n\nThought: ok\n\n"
        "Final Answer: 5",
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        'Action: weather\nAction Input: {"city": "Oslo"}\n\nNote: this may take a while.',
        calls(("weather", {"city": "Oslo"})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "x.html", "content": "<a href="y">z</a>"}',
        calls(("write_file", {"path": "x.html", "content": '<a href="y">z</a>'})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "x.py", "content": "d = {"a": 1, "b": 2}\nprint(d)"}',
        calls(("write_file", {"path": "x.py", "content": 'd = {"a": 1, "b": 2}\nprint(d)'})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "x.md", "content": "# T\n```py\nx\n```\nObservat'
        'ion: y\n"}',
        calls(("write_file", {"path": "x.md", "content": "# T\n```py\nx\n```\nObservation: y\n"})),
    ),
    (
        'Action: write_file\nAction Input: {\n  path: "x",\n  content: "y"\n}',
        calls(("write_file", {"path": "x", "content": "y"})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "x" "content": "y"}',
        calls(("write_file", {"path": "x", "content": "y"})),
    ),
    (
        'Action: write_file\nAction Input: {"path": "\\d+\\.txt", "content": "y"}',
        calls(("write_file", {"path": "\\d+\\.txt", "content": "y"})),
    ),
]


GROUPS = {
    "mixed": MIXED,
    "labels": LABELS,
    "names": NAMES,
    "functions": FUNCTIONS,
    "inputs": INPUTS,
    "dialects": DIALECTS,
    "thinking": THINKING,
    "turns": TURNS,
    "characters": CHARACTERS,
}
EXAMPLES = [
    pytest.param(reply, meaning, id=f"{group}-{number}")
    for group, examples in GROUPS.items()
    for number, (reply, meaning) in enumerate(examples, start=1)
]


def meant(step: Step) -> Meaning:
    if isinstance(step, Act):
        return calls(*((action.tool, dict(action.arguments)) for action in step.actions))
    return answer(step.answer) if isinstance(step, FinalAnswer) else fault(step.code)


@pytest.mark.parametrize(("reply", "meaning"), EXAMPLES)
def test_meaning(reply: str, meaning: Meaning) -> None:
    assert repr(meant(read(reply, TOOLS))) == repr(meaning)


@pytest.mark.parametrize(("reply", "meaning"), EXAMPLES)
def test_one_character_at_a_time(reply: str, meaning: Meaning) -> None:
    step, _, _ = fed_text(reply, TOOLS)
    assert step == read(reply, TOOLS)


@pytest.mark.parametrize(("reply", "meaning"), EXAMPLES)
def test_what_was_accepted_means_the_same(reply: str, meaning: Meaning) -> None:
    step = read(reply, TOOLS)
    if step.said:
        assert meant(read(step.said, TOOLS)) == meant(step)


@pytest.mark.parametrize(("reply", "meaning"), EXAMPLES)
def test_only_the_first_call(reply: str, meaning: Meaning) -> None:
    reader = Reader(TOOLS, several="first")
    reader.feed(reply)
    first = reader.finish()
    stop_at = reader.stop_at
    if isinstance(first, Act):
        assert len(first.actions) == 1
        stopped = Reader(TOOLS, several="first")
        stopped.feed(reply[:stop_at])
        assert meant(stopped.finish("cut")) == meant(first)
