"""The agent that settings describe, and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from react_agent.config.checks import wrong
from react_agent.config.model import full_name, local_model
from react_agent.config.settings import Settings
from react_agent.errors import TranscriptError

if TYPE_CHECKING:
    from react_agent.agent import Agent
    from react_agent.prompt import Prompt
    from react_agent.tools import Tool, Toolbox
    from react_agent.types import Completion, Endpoint, Sampling


TAKEN_AS_SAID = frozenset({"script", "replay", "human"})
"""Kinds of endpoints that are no model: replies in a file, where the next one is meant for later, and people."""


def build(settings: Settings, given: Sequence[Tool] = ()) -> Agent:
    """The agent that the settings describe, with tools that are `given`.

    Raises `ConfigError` and `PromptError`.
    """
    from react_agent.agent import Agent, reply_form

    prompt = template(settings)
    asked, tools = endpoint(settings), toolbox(settings, given)
    if settings.constrain == "on" and reply_form(asked, prompt, tools.specs) is None:
        why = f"{asked.kind} takes none for the dialect {prompt.name}"
        raise wrong(f"A reply cannot be held to a form: {why}.", "Write --constrain auto, or off.")
    return Agent(
        asked,
        prompt,
        tools,
        settings.max_steps,
        settings.deadline,
        constrain=settings.constrain != "off",
        check_numbers=asked.kind not in TAKEN_AS_SAID
        if settings.check_numbers is None
        else settings.check_numbers,
        follow_examples=settings.follow_examples,
        thinks=settings.thinks,
    )


def template(settings: Settings) -> Prompt:
    """The dialect that is named, with the stop strings that a server may be sent. Raises `PromptError`."""
    from react_agent.prompt import Prompt

    prompt = Prompt.load(settings.dialect)
    if settings.server_stop and not settings.thinks:
        return prompt
    return Prompt(replace(prompt.texts, stop=()))


def endpoint(settings: Settings) -> Endpoint:
    """The model that is named. Nothing is asked or loaded yet. Raises `ConfigError`."""
    from react_agent.endpoints import address_of, open_endpoint
    from react_agent.keys import key_for
    from react_agent.models import model_path

    model, name = local_model(settings), full_name(settings)
    url = address_of(name, settings.base_url)
    return open_endpoint(
        name,
        sampling=sampling(settings),
        base_url=settings.base_url,
        api_key=(key_for(url, dict(settings.keys)) if url else None) or settings.api_key,
        format=settings.format or (model.format if model else None),
        server_stop=settings.server_stop,
        model_file=model_path,
        saved_replies=_saved_replies,
    )


def sampling(settings: Settings) -> Sampling:
    """How the model is to choose its tokens."""
    from react_agent.types import Sampling

    return Sampling(settings.temperature, settings.max_tokens, settings.seed, settings.top_p)


def toolbox(settings: Settings, given: Sequence[Tool] = ()) -> Toolbox:
    """The tools that are named, then those that are given, then those of the files. Raises `ConfigError`.

    A given tool takes the place of a named one that is called the same.
    """
    from react_agent.tools import Toolbox, builtin, load_tools

    taken = {"none", *(tool.spec.name for tool in given)}
    named = [builtin(name) for name in dict.fromkeys(settings.tools) if name not in taken]
    filed = [tool for path in settings.tool_files for tool in load_tools(Path(path).expanduser())]
    return Toolbox([*named, *given, *filed], timeout=settings.tool_timeout)


def _saved_replies(path: Path) -> list[Completion]:
    """What the model said in a saved run."""
    from react_agent.transcript import read

    try:
        return [turn.completion for turn in read(path).transcript.turns]
    except TranscriptError as error:
        raise wrong(f"The replies of {path} cannot be read: {error}") from error
