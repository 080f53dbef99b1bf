"""Examples with a list of numbers, for questions whose list has more of them or fewer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from react_agent.analogy.figures import plain
from react_agent.prompts import Call, Example

ITEM = r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?![\w%])"
LIST = re.compile(rf"(?<![\w.,]){ITEM}(?:(?:, |、|，){ITEM})*(?:,? (?:and|or) | ?[和与] ?|, |、|，){ITEM}")

LEAST, MOST = 3, 12
"""How many numbers make a list; two are no list, since their order may count."""

UNUSED = 900_000
"""A number that no example has, and the next ones."""


def listed(text: str) -> list[str]:
    """The numbers of the only list in a text, as an expression has them.

    >>> listed("The mean of 21, 35.5, and 1,040?"), listed("21 和 35"), listed("90、6 和 7 的和")
    (['21', '35.5', '1040'], [], ['90', '6', '7'])
    """
    found = [re.findall(ITEM, whole) for whole in LIST.findall(text)]
    found = [items for items in found if LEAST <= len(items) <= MOST]
    return [plain(item) for item in found[0]] if len(found) == 1 else []


def stretched(example: Example, question: str) -> Example:
    """The example with as long a list as the question has; as it is where one of both has none.

    >>> mean = Call("", "calculator", {"expression": "(21 + 35 + 40) / 3"}, "32")
    >>> longer = stretched(Example("The mean of 21, 35 and 40?", (mean,), "", ""), "The mean of 1, 2, 3 and 4?")
    >>> longer.question, longer.calls[0].arguments
    ('The mean of 21, 35, 40 and 900000?', {'expression': '(21 + 35 + 40 + 900000) / 4'})
    """
    old, wanted = listed(example.question), len(listed(question))
    if not old or not wanted or len(old) == wanted:
        return example
    new = [*old, *(str(UNUSED + n) for n in range(wanted - len(old)))][:wanted]
    whole = next(
        each[0] for each in LIST.finditer(example.question) if len(re.findall(ITEM, each[0])) == len(old)
    )
    asked = example.question.replace(whole, f"{', '.join(new[:-1])} and {new[-1]}")
    return replace(example, question=asked, calls=tuple(_longer(call, old, new) for call in example.calls))


def _longer(call: Call, old: list[str], new: list[str]) -> Call:
    """The call with the other list in its expression, and the other number of items where it divides by it."""
    if not isinstance(call.arguments, Mapping):
        return call
    arguments = dict(call.arguments)
    for name, value in arguments.items():
        for sign in (" + ", " * ", ", ") if isinstance(value, str) else ():
            if (whole := sign.join(old)) in value:
                longer = value.replace(whole, sign.join(new))
                arguments[name] = re.sub(rf"/ {len(old)}$", f"/ {len(new)}", longer)
    return replace(call, arguments=arguments)
