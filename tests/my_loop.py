"""One solution of EXERCISES.md, as a learner might write it; the tests run the exercises with it."""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from pathlib import Path

STOP = "\nObservation"
OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def ask(model, prompt):
    from react_agent.types import Part

    *_, completion = model.complete([Part("user", prompt)])
    return completion.text


def cut(text):
    return text.partition(STOP)[0]


def read(text):
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("Final Answer:"):
            return "answer", line.partition(":")[2].strip()
        if line.startswith("Action:"):
            name = line.partition(":")[2].strip()
            following = lines[number + 1] if number + 1 < len(lines) else ""
            try:
                return "call", name, json.loads(following.removeprefix("Action Input:"))
            except ValueError:
                return "neither", f"The input of {name} is no JSON."
    return "neither", "Write an action or a final answer."


def calculate(expression):
    try:
        return _value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, KeyError) as error:
        raise ValueError(f"cannot calculate {expression}") from error


def _value(node):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise KeyError(type(node))


def observe(step, tools):
    if step[0] == "neither":
        return f"Error: {step[1]}"
    _, name, arguments = step
    if name not in tools:
        return f"Error: there is no tool {name}; there are: {', '.join(tools)}"
    try:
        return str(tools[name](**arguments))
    except Exception as error:
        return f"Error: {error}"


def run(model, question, tools, max_steps=8):
    text = f"Question: {question}\nThought:"
    for _ in range(max_steps):
        reply = cut(ask(model, text))
        text += reply
        step = read(reply)
        if step[0] == "answer":
            return step[1], text
        text += f"\nObservation: {observe(step, tools)}\nThought:"
    return None, text


def save(path, replies):
    steps = [{"reply": reply, "step": read(cut(reply))} for reply in replies]
    Path(path).write_text(json.dumps(steps, indent=1), encoding="utf-8")


def replay(path):
    saved = json.loads(Path(path).read_text(encoding="utf-8"))
    return [number for number, each in enumerate(saved, 1) if list(read(cut(each["reply"]))) != each["step"]]
