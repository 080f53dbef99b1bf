"""The parser reads the same with `regex`, which stands in where Python's own misreads possessive groups."""

from __future__ import annotations

import subprocess
import sys

from react_agent.parsers import expressions, read

TEXTS = (
    'Thought: I look.\nAction: lookup\nAction Input: {"key": "price of mouse"}',
    '**Action:** lookup\n**Action Input:** {"key": "a \\"b\\" c",}\n',
    "1. Thought: x\n2. Action: lookup\n3. Action Input: {'key': 'it''s'}",
    "<thought>known</thought>\n<answer>12 degrees.</answer><|im_end|>",
    '```json\n{"action": "lookup", "action_input": {"key": "x"}}\n```',
    'Action: lookup\nAction Input: {"key": "x" "more": [1, 2,, 3], list: [{"a": 1}, {"a": 2}',
    '<tool_call>{"name": "lookup", "arguments": {"key": "x"}}</tool_call>',
    "Final Answer: \\boxed{42}",
)

TOOLS = {"lookup": {"type": "object", "properties": {"key": {"type": "string"}}}}

SCRIPT = """
import importlib.util, sys
name = "react_agent.parsers.expressions"
spec = importlib.util.spec_from_file_location(name, {path!r})
sys.modules[name] = importlib.util.module_from_spec(spec)
here, sys.version_info = sys.version_info, (3, 11, 2, "final", 0)
spec.loader.exec_module(sys.modules[name])
sys.version_info = here
from react_agent.parsers import labels, read
assert labels.re.__name__ == "regex", labels.re
for text in {texts!r}:
    print(repr(read(text, {tools!r})))
"""


def test_the_parser_reads_the_same_where_regex_stands_in() -> None:
    assert expressions.re.__name__ == ("re" if sys.version_info >= (3, 11, 5) else "regex")
    script = SCRIPT.format(texts=TEXTS, tools=TOOLS, path=expressions.__file__)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.splitlines() == [repr(read(text, TOOLS)) for text in TEXTS]
