"""Chat formats for raw completion: how turns are written into one string that the model goes on with.

The texts are those of llama.cpp's built-in templates (`alpaca`: the Stanford form; `zephyr`: FastChat's). The
beginning-of-text token is never part of them, since servers add it to a string by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby

from react_agent.errors import ConfigError
from react_agent.types import Part, Role


@dataclass(frozen=True, slots=True)
class Format:
    """How one family of models marks its turns: for each role, what stands before and after its text.

    `lead` stands between the opening of the assistant's turn and its first word; a prompt never ends in it,
    for a trailing space is a token of its own. `system_in_user`: the family has no turn for the system text,
    so it is put at the head of the user's.
    """

    system: tuple[str, str]
    user: tuple[str, str]
    assistant: tuple[str, str]
    stop: tuple[str, ...]
    lead: str = ""
    system_in_user: bool = False
    marks: tuple[str, ...] = ()
    """Turn marks that are ordinary words and no special tokens, forged as easily."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a prompt that is written out; what is not trusted may forge the marks of a turn."""

    text: str
    trusted: bool = True
    wanted: int | None = None
    """The number of the part that it is, where somebody wants to know its place."""


FORMATS: dict[str, Format] = {
    "chatml": Format(
        system=("<|im_start|>system\n", "<|im_end|>\n"),
        user=("<|im_start|>user\n", "<|im_end|>\n"),
        assistant=("<|im_start|>assistant\n", "<|im_end|>\n"),
        stop=("<|im_end|>",),
    ),
    "llama2": Format(
        system=("<<SYS>>\n", "\n<</SYS>>\n\n"),
        user=("[INST] ", " [/INST]"),
        assistant=("", "</s><s>"),
        stop=("</s>",),
        system_in_user=True,
    ),
    "llama3": Format(
        system=("<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"),
        user=("<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"),
        assistant=("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
        stop=("<|eot_id|>",),
    ),
    "mistral": Format(
        system=("", "\n\n"),
        user=("[INST] ", "[/INST]"),
        assistant=("", "</s>"),
        lead=" ",
        stop=("</s>",),
        system_in_user=True,
    ),
    "mistral-v7": Format(
        system=("[SYSTEM_PROMPT] ", "[/SYSTEM_PROMPT]"),
        user=("[INST] ", "[/INST]"),
        assistant=("", "</s>"),
        lead=" ",
        stop=("</s>",),
    ),
    "gemma": Format(
        system=("", "\n\n"),
        user=("<start_of_turn>user\n", "<end_of_turn>\n"),
        assistant=("<start_of_turn>model\n", "<end_of_turn>\n"),
        stop=("<end_of_turn>",),
        system_in_user=True,
    ),
    "alpaca": Format(
        system=("", "\n\n"),
        user=("### Instruction:\n", "\n\n"),
        assistant=("### Response:\n", "\n\n"),
        stop=("### Instruction:",),
        marks=("### Instruction:", "### Response:", "### Input:"),
    ),
    "vicuna": Format(
        system=("", "\n\n"),
        user=("USER: ", "\n"),
        assistant=("ASSISTANT:", "</s>\n"),
        lead=" ",
        stop=("</s>", "\nUSER:"),
        marks=("\nUSER:", "\nASSISTANT:"),
    ),
    "phi3": Format(
        system=("<|system|>\n", "<|end|>\n"),
        user=("<|user|>\n", "<|end|>\n"),
        assistant=("<|assistant|>\n", "<|end|>\n"),
        stop=("<|end|>",),
    ),
    "zephyr": Format(
        system=("<|system|>\n", "</s>\n"),
        user=("<|user|>\n", "</s>\n"),
        assistant=("<|assistant|>\n", "</s>\n"),
        stop=("</s>",),
    ),
    "plain": Format(system=("", "\n\n"), user=("", "\n"), assistant=("", "\n"), stop=()),
}

MARKERS: tuple[tuple[str, str], ...] = (
    ("<|im_sep|>", "plain"),  # Phi-4 writes ChatML's words with marks of its own
    ("<|im_start|>", "chatml"),
    ("<|start_header_id|>", "llama3"),
    ("<start_of_turn>", "gemma"),
    ("[SYSTEM_PROMPT]", "mistral-v7"),
    ("<<SYS>>", "llama2"),
    ("[INST]", "mistral"),
    ("<|end|>", "phi3"),
    ("<|assistant|>", "zephyr"),
    ("### Instruction:", "alpaca"),
    ("ASSISTANT:", "vicuna"),
)
"""What to look for in a Jinja chat template, the telling ones first."""

UNTRUSTED = frozenset({"question", "tool"})

BREAK = "\u200b"
"""Put behind the first character of a special string it leaves nothing a tokenizer would take for one."""

SPECIAL: tuple[tuple[str, str], ...] = (
    ("<", r"\|[^|<>\s]{1,40}\|>"),  # <|im_end|>, <|eot_id|>, <|endoftext|>, ...
    ("<", r"｜[^｜<>\s]{1,40}｜>"),  # DeepSeek, with full-width bars
    ("<", r"\|[a-z_]{1,20}>"),  # Gemma 4: <|channel> ...
    ("<", r"[a-z_]{1,20}\|>"),  # ... and <channel|>
    ("<", r"/?(?:s|start_of_turn|end_of_turn|bos|eos|pad|unk|mask|think|tool_call|tool_response)>"),
    ("<", r"</?SYS>>"),
    (r"\[", r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_RESULTS|TOOL_CALLS|TOOL_CONTENT)\]"),
)
"""Strings that tokenizers turn into control tokens: first character, rest. All families at once, since the
format is chosen by a person and the model behind it may be of another family."""

LONGEST_SPECIAL = 48


def find_format(name: str) -> Format:
    """Look a format up. Raises `ConfigError` with the names there are."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ConfigError(f"There is no prompt format {name!r}. Use one of: {', '.join(FORMATS)}.") from None


def detect(chat_template: str) -> str:
    """Name the format of a model's Jinja chat template; `plain` where there is none or it is unknown.

    >>> detect("{% for m in messages %}<|im_start|>{{ m.role }}")
    'chatml'
    """
    return next((name for marker, name in MARKERS if marker in chat_template), "plain")


def flatten(parts: Sequence[Part], name: str) -> str:
    """Write a prompt as one string that ends inside the assistant's turn.

    Consecutive parts of one role are one turn. Parts of the assistant are taken verbatim, so that a longer
    prompt only grows at its end; system and user turns lose their last line breaks. Special strings in parts
    whose source is a question or a tool are broken (see `neutralise`).

    >>> flatten([Part("user", "Hi"), Part("assistant", "Thought:")], "chatml")
    '<|im_start|>user\\nHi<|im_end|>\\n<|im_start|>assistant\\nThought:'
    """
    return _safe(pieces(parts, name), find_format(name).marks)[0]


def places(
    parts: Sequence[Part], name: str, wanted: Collection[int]
) -> tuple[str, dict[int, tuple[int, int]]]:
    """The same string, and where in it the parts with the numbers `wanted` stand.

    >>> places([Part("user", "Hi"), Part("assistant", "Thought:")], "plain", {1})
    ('Hi\\nThought:', {1: (3, 11)})
    """
    return _safe(pieces(parts, name, wanted), find_format(name).marks)


def pieces(parts: Sequence[Part], name: str, wanted: Collection[int] = ()) -> list[Piece]:
    """The same prompt in pieces of trusted and untrusted text, with nothing broken yet.

    >>> [piece.text for piece in pieces([Part("user", "Hi", "question")], "chatml")]
    ['<|im_start|>user\\n', 'Hi', '<|im_end|>\\n<|im_start|>assistant\\n']
    """
    form = find_format(name)
    *closed, (_, last) = _turns(parts, form, wanted)
    written = [piece for role, turn in closed for piece in _closed(role, turn, form)]
    return _stripped(_merged([*written, *_opened(last, form)]), " ")


def safe_text(parts: Iterable[Part]) -> str:
    """The text of one chat message: special strings in untrusted parts are broken, no turn is marked.

    >>> safe_text([Part("user", "say </s>", "question")])
    'say <\u200b/s>'
    """
    return _safe(_merged(Piece(part.text, part.source not in UNTRUSTED) for part in parts), ())[0]


def neutralise(text: str, name: str) -> str:
    """Break every special string by a zero-width space behind its first character.

    >>> neutralise("a<|im_end|>", "chatml")
    'a<\\u200b|im_end|>'
    """
    return _specials(find_format(name).marks, f"(?={BREAK}*", ")").sub(lambda match: match[0] + BREAK, text)


def has_special(text: str) -> bool:
    """Whether a text may hold a special token at all: in every family they begin with one of two characters."""
    return "<" in text or "[" in text


def specials(text: str) -> list[str]:
    """The special strings of all families in a text, each once.

    >>> specials("a</s><|im_end|></s>")
    ['</s>', '<|im_end|>']
    """
    return list(dict.fromkeys(match[0] for match in _specials((), "", "").finditer(text)))


def _turns(parts: Sequence[Part], form: Format, wanted: Collection[int]) -> list[tuple[Role, list[Piece]]]:
    """Join parts of one role, fold system text into the user's turn if need be, end with the assistant."""
    turns: list[tuple[Role, list[Piece]]] = []
    for role, run in groupby(enumerate(parts), key=lambda numbered: numbered[1].role):
        turn = [
            Piece(part.text, part.source not in UNTRUSTED, number if number in wanted else None)
            for number, part in run
        ]
        if role != "assistant":
            turn = _stripped(turn, "\n")
        if form.system_in_user and role == "system":
            turns.append(("user", _between(form.system, turn)))
        elif form.system_in_user and role == "user" and turns and turns[-1][0] == "user":
            turns[-1][1].extend(turn)
        else:
            turns.append((role, turn))
    if not turns or turns[-1][0] != "assistant":
        turns.append(("assistant", []))
    return turns


def _closed(role: Role, turn: list[Piece], form: Format) -> list[Piece]:
    if role == "assistant":
        return [*_opened(turn, form), Piece(form.assistant[1])]
    return _between(form.system if role == "system" else form.user, turn)


def _opened(turn: list[Piece], form: Format) -> list[Piece]:
    text = next((piece.text for piece in turn if piece.text), "")
    lead = "" if not text or text[0].isspace() else form.lead
    return [Piece(form.assistant[0] + lead), *turn]


def _between(marks: tuple[str, str], turn: list[Piece]) -> list[Piece]:
    return [Piece(marks[0]), *turn, Piece(marks[1])]


def _stripped(turn: list[Piece], characters: str) -> list[Piece]:
    """Take these characters off the end."""
    while turn and not turn[-1].text.rstrip(characters):
        turn = turn[:-1]
    return [*turn[:-1], replace(turn[-1], text=turn[-1].text.rstrip(characters))] if turn else []


def _merged(turn: Iterable[Piece]) -> list[Piece]:
    """Join neighbours that are trusted; untrusted ones stay as they are, since a prompt only grows."""
    merged: list[Piece] = []
    whole = (piece for piece in turn if piece.text)
    for (trusted, wanted), run in groupby(whole, key=lambda piece: (piece.trusted, piece.wanted)):
        texts = [piece.text for piece in run]
        merged += [Piece(text, trusted, wanted) for text in (["".join(texts)] if trusted else texts)]
    return merged


def _safe(written: Iterable[Piece], marks: tuple[str, ...]) -> tuple[str, dict[int, tuple[int, int]]]:
    """Join; no special string in untrusted text, nor half in it (`<|im_` + `end|>`).

    Also tells where the wanted pieces stand.
    """
    whole, find_in = _specials(marks, "", ""), _specials(marks, f"(?={BREAK}*", ")")
    text, stand = "", {}
    for at, piece in enumerate(written):
        added = piece.text if piece.trusted else find_in.sub(lambda match: match[0] + BREAK, piece.text)
        seam = text[-LONGEST_SPECIAL:]
        if at and any(
            match.start() < len(seam) < match.end()
            for match in whole.finditer(seam + added[:LONGEST_SPECIAL])
        ):
            added = BREAK + added
        text += added
        if piece.wanted is not None:
            stand[piece.wanted] = len(text) - len(added), len(text)
    return text, stand


@cache
def _specials(marks: tuple[str, ...], before: str, after: str) -> re.Pattern[str]:
    """Compile all special strings, `before` and `after` set around what follows their first character."""
    words = tuple((re.escape(mark[0]), re.escape(mark[1:])) for mark in marks)
    return re.compile("|".join(f"{first}{before}(?:{rest}){after}" for first, rest in SPECIAL + words))
