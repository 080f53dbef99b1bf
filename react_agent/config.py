"""Settings, and the agent they describe.

built in < card of the model < user file < project file < environment < flags. A later one replaces an earlier
one key by key.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from react_agent.errors import ConfigError, TranscriptError

if TYPE_CHECKING:
    from react_agent.agent import Agent
    from react_agent.models import Model
    from react_agent.tools import Tool, Toolbox
    from react_agent.types import Completion, Endpoint, Sampling

PROJECT_FILE = ".react.yaml"
USER_FILE = "settings.yaml"
COMMAND_LINE = "The command line"
MOST_BYTES = 1_000_000
"""Of a settings file."""

SHORTEST_SECRET = 8
"""Characters."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is made of; the keys of a settings file are the names of these fields.

    `model` is KIND:NAME, or a bare name; None is the catalogue's default, run in this process. `server_stop`
    asks the server to end a reply at an observation; the client does so anyway. `constrain` holds a server that
    can to the form of a reply; `on` refuses one that cannot. `check_numbers` has the model asked about numbers
    from nowhere. `deadline` and `tool_timeout`
    are seconds. `save` is a folder or a file, None the user's folder for runs, False nothing.
    """

    model: str | None = None
    base_url: str | None = None
    format: str | None = None
    dialect: str = "react"
    temperature: float = 0.2
    max_tokens: int = 512
    seed: int = 0
    top_p: float | None = None
    server_stop: bool = True
    constrain: str = "auto"
    check_numbers: bool = False
    max_steps: int = 8
    deadline: float | None = None
    tools: tuple[str, ...] = ("calculator", "current_time")
    tool_files: tuple[str, ...] = ()
    tool_timeout: float = 30.0
    save: str | bool | None = None
    api_key: str | None = field(default=None, repr=False)
    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Kept keys, each with the scheme, host and port that it belongs to."""
    origins: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """Setting → where it was said, for all that are not built in."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that are shown and written nowhere. A short key, such as `none`, stands for no key."""
        every = dict.fromkeys((self.api_key or "", *(key for _, key in self.keys)))
        return tuple(key for key in every if len(key) >= SHORTEST_SECRET)


def wrong(message: str, fix: str = "") -> ConfigError:
    """A `ConfigError`; what to do about it goes along as the exception's note."""
    error = ConfigError(message)
    if fix:
        error.add_note(fix)
    return error


def near(name: str, known: Iterable[str]) -> str:
    """`Did you mean max_steps?`, or the names there are.

    >>> near("max_step", ["max_steps", "model"])
    'Did you mean max_steps?'
    """
    names = list(known)
    close = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.55)
    return f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(names) or 'none'}."


def read_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    card: bool = True,
) -> Settings:
    """All settings together. A flag that is None was not given. Raises `ConfigError`.

    `folder` is where the project file is looked for first, the current folder if None. Without `card`, what
    is known of the model decides nothing.
    """
    from react_agent.keys import read_keys

    found: dict[str, Any] = {}
    user = user_file()
    if user:
        found |= read_file(user)
    project = project_file(folder or Path.cwd())
    named = read_file(project) if project else {}
    if "tool_files" in named:
        raise wrong(f"{project}: a project file cannot have code run.", "Name it yourself: --tools FILE.py")
    if str(named.get("model", "")).startswith("cmd:"):
        raise wrong(
            f"{project}: a project file cannot have a program run.", "Name it yourself: -m cmd:COMMAND"
        )
    given = {key: value for key, value in (flags or {}).items() if value is not None}
    model = given.get("model") or environment.get("REACT_MODEL") or (found | named).get("model") or ""
    kind = str(model).partition(":")[0]
    said = from_environment(environment, kind)
    for key, value in given.items():
        said[key] = checked(key, value, COMMAND_LINE)
    settings = replace(Settings(), **found | named | said, keys=tuple(read_keys().items()))
    decided, of_card = _of_card(settings) if card else ({}, "")
    origins = dict.fromkeys(decided, of_card) | dict.fromkeys(found, str(user))
    origins |= dict.fromkeys(named, str(project)) | dict.fromkeys(said, "the environment")
    origins |= dict.fromkeys(given, "the command line")
    left = {key: value for key, value in decided.items() if key not in found | named | said}
    settings = replace(settings, **left, origins=tuple(origins.items()))
    if settings.api_key and _is_of_project(named, said):
        raise wrong(
            f"{project} names a server, and {variables(kind)[0]} is set: the key is not sent there.",
            "If you trust it, name the server yourself, with --base-url or -m; else unset the key.",
        )
    return settings


def asked_as(settings: Settings) -> str:
    """The name under which a card is kept for what the settings ask for. Raises `ConfigError`.

    >>> asked_as(Settings(model="m", base_url="http://127.0.0.1:8000/v1/"))
    'openai:m at http://127.0.0.1:8000'
    >>> asked_as(Settings(model="llamacpp:127.0.0.1:80")), asked_as(Settings(model="http://127.0.0.1:80"))
    ('llamacpp at http://127.0.0.1:80', 'auto at http://127.0.0.1:80')
    """
    from react_agent.endpoints import BY_ADDRESS, address_of
    from react_agent.endpoints.failure import shown

    name = full_name(settings)
    kind, _, rest = name.partition(":")
    url = address_of(name, settings.base_url)
    if url is not None:
        root = shown(url).rstrip("/").removesuffix("/v1")
        known = "auto" if kind in {"http", "https"} else kind if kind in BY_ADDRESS else name
        return f"{known} at {root}"
    is_file = kind in {"script", "replay"} or (kind == "local" and rest.endswith(".gguf"))
    return f"{kind}:{os.path.abspath(os.path.expanduser(rest))}" if is_file else name


def _of_card(settings: Settings) -> tuple[dict[str, Any], str]:
    """What the card of the model decides, and where that stands; nothing where there is none.

    A key or a value that is none here comes from another version, and counts as not there.
    """
    from react_agent.cards import card_path, cards_folder, find_card

    if not cards_folder().is_dir():
        return {}, ""
    try:
        card = find_card(asked_as(settings))
    except ConfigError:
        return {}, ""  # a wrong name is told where the model is opened
    if card is None:
        return {}, ""
    return of_a_model(card.decided), str(card_path(card))


def of_a_model(decided: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that what is known of a model may decide: never which model, where, or with what tools.

    >>> of_a_model({"server_stop": False, "base_url": "http://h", "dialect": 3, "unheard_of": 1})
    {'server_stop': False}
    """
    known = {key: value for key, value in decided.items() if key in KINDS and key not in OF_THE_USER}
    right = {key: KINDS[key][1](value) for key, value in known.items()}
    return {key: value for key, value in right.items() if value is not None}


OF_THE_USER = frozenset({"model", "base_url", "tools", "tool_files", "save"})


def _is_of_project(named: Mapping[str, Any], said: Mapping[str, Any]) -> bool:
    """Whether the server is one that the project file names, which may be anybody's, and not the user."""
    from react_agent.endpoints import ADDRESSES, BY_ADDRESS, KINDS

    model = str(said.get("model", named.get("model", "")))
    kind, colon, rest = model.partition(":")
    if kind in KINDS and kind not in ADDRESSES:
        return False
    is_address = kind in {"http", "https"} or (kind in BY_ADDRESS and bool(rest))
    if colon and is_address:
        return "model" not in said
    return "base_url" in named and "base_url" not in said


def from_environment(environment: Mapping[str, str], kind: str = "") -> dict[str, Any]:
    """The settings that variables hold which other programs know as well, and REACT_MODEL.

    Raises `ConfigError`.
    """
    key_name, address_name = variables(kind)
    names = {"REACT_MODEL": "model", address_name: "base_url", key_name: "api_key"}
    found = {
        key: environment[name].strip() for name, key in names.items() if environment.get(name, "").strip()
    }
    key = found.get("api_key", "")
    if not (key.isascii() and key.isprintable()):
        raise wrong(f"{key_name} holds a character that no key has.", "Copy the key again, in one line.")
    return found


def variables(kind: str) -> tuple[str, str]:
    """The variables that hold the key and the address for a kind of endpoint; the second may be empty."""
    return VARIABLES.get(kind, ("OPENAI_API_KEY", "OPENAI_BASE_URL"))


VARIABLES: Mapping[str, tuple[str, str]] = {
    "ollama": ("OLLAMA_API_KEY", "OLLAMA_HOST"),
    "ollama-chat": ("OLLAMA_API_KEY", "OLLAMA_HOST"),
    "hf": ("HF_TOKEN", ""),
    "deepseek": ("DEEPSEEK_API_KEY", ""),
}
"""Kinds that have variables of their own; OpenAI's key is nothing to them."""


def user_file() -> Path | None:
    """The user's settings file, None where there is none."""
    import platformdirs

    path = Path(platformdirs.user_config_dir("react-agent", appauthor=False)) / USER_FILE
    return path if _is_file(path) else None


def project_file(folder: Path) -> Path | None:
    """`.react.yaml` in this folder or the nearest one above it, up to the root of the repository.

    Outside of a repository only the folder itself is looked at: a file further up may be anybody's.
    """
    above = [folder, *folder.parents]
    root = next((at for at, place in enumerate(above) if (place / ".git").exists()), 0)
    files = (place / PROJECT_FILE for place in above[: root + 1])
    return next(filter(_is_file, files), None)


def read_file(path: Path) -> dict[str, Any]:
    """The settings of one file, checked. Raises `ConfigError` naming file, key and what is near.

    A word without quotes means what JSON would say: `no`, `1_000` and `12:30` are text.
    """
    from react_agent.transcript import plain

    try:
        data = path.read_bytes()
        if len(data) > MOST_BYTES:
            raise wrong(f"{path}: {len(data)} bytes is too long for a settings file.")
        content = plain.load(data)
    except OSError as error:
        raise wrong(f"{path} cannot be read: {error.strerror or error}.") from error
    except (plain.Refused, plain.Damaged) as error:
        raise wrong(f"{path}: {error}.", "Write one `key: value` a line.") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise wrong(f"{path}: expected `key: value` lines.", "For example: max_steps: 5")
    found = {key: checked(key, value, str(path)) for key, value in content.items()}
    # A relative path is meant from where it is written.
    if isinstance(found.get("save"), str):
        found["save"] = str(path.parent / Path(found["save"]).expanduser())
    if "tool_files" in found:
        found["tool_files"] = tuple(str(path.parent / Path(p).expanduser()) for p in found["tool_files"])
    return found


def checked(key: str, value: Any, where: str) -> Any:
    """The value of a setting in its type. Raises `ConfigError` naming key, place and type."""
    if where != COMMAND_LINE and SECRET.search(key):
        raise wrong(
            f"{where}: {key}: secrets are not read from settings files.",
            "Set OPENAI_API_KEY in the environment, and take the key out of the file.",
        )
    known = [each.name for each in fields(Settings) if each.name not in ("api_key", "keys", "origins")]
    if key not in known:
        raise wrong(f"{where}: unknown setting {key!r}.", near(key, known))
    expected, check = KINDS[key]
    right = check(value)
    if right is None:
        fix = "Write false for not saving." if key == "save" else ""
        raise wrong(f"{where}: {key} must be {expected}, not {_seen(value)}.", fix)
    if key == "base_url" and _shown(right) != right:
        raise wrong(f"{where}: base_url holds a password.", "Set OPENAI_API_KEY in the environment instead.")
    return right


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


def full_name(settings: Settings) -> str:
    """The model as KIND:NAME, or the address of a server that is to be asked what it is.

    A bare name belongs to the server at `base_url` if there is one, else to the catalogue. Raises
    `ConfigError` with the names that are near.
    """
    from react_agent.endpoints import KINDS
    from react_agent.models import catalogue, default_model

    name, url = settings.model, settings.base_url
    if name is None:
        if url is None:
            return f"local:{default_model().name}"
        return url if "://" in url else f"http://{url}"
    if name == "human" or name.startswith(("http://", "https://")):
        return name
    if name.partition(":")[0] in KINDS and ":" in name:
        return name
    if url is not None:
        return f"openai:{name}"
    if name in catalogue() or name.endswith(".gguf"):
        return f"local:{name}"
    known = [*catalogue(), *(f"{kind}:" for kind in KINDS)]
    raise wrong(f"There is no model {name!r}. {near(name, known)}", "With a server: --base-url URL -m NAME")


def local_model(settings: Settings) -> Model | None:
    """The entry of the catalogue that the settings ask for, None if they ask for something else."""
    from react_agent.models import find

    kind, _, name = full_name(settings).partition(":")
    return find(name) if kind == "local" and not name.endswith(".gguf") else None


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
        model_file=model_path,
        saved_replies=_saved_replies,
    )


def _saved_replies(path: Path) -> list[Completion]:
    """What the model said in a saved run."""
    from react_agent.transcript import read

    try:
        return [turn.completion for turn in read(path).transcript.turns]
    except TranscriptError as error:
        raise wrong(f"The replies of {path} cannot be read: {error}") from error


def build(settings: Settings, given: Sequence[Tool] = ()) -> Agent:
    """The agent that the settings describe, with tools that are `given`.

    Raises `ConfigError` and `PromptError`.
    """
    from react_agent.agent import Agent, reply_form
    from react_agent.prompt import Prompt

    prompt = Prompt.load(settings.dialect)
    if not settings.server_stop:
        prompt = Prompt(replace(prompt.texts, stop=()))
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
        check_numbers=settings.check_numbers,
    )


SECRET = re.compile(r"key|secret|passw|authorization|bearer|credential|(^|_)token$", re.IGNORECASE)

Check = Callable[[Any], Any]
"""The value in its type, None where it has another."""


def _text(value: Any) -> Any:
    return value if isinstance(value, str) and value else None


def _names(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) and name for name in value):
        return tuple(value)
    return None


def _bool(value: Any) -> Any:
    return value if isinstance(value, bool) else None


def _one_of(value: Any, words: tuple[str, ...]) -> Any:
    """One of the words; a bare on or off of YAML is a truth value."""
    word = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
    return word if word in words else None


def _whole(least: int) -> Check:
    return lambda value: value if type(value) is int and value >= least else None


def _number(least: float, most: float, *, above: bool = False) -> Check:
    def check(value: Any) -> Any:
        if type(value) not in (int, float) or not least <= value <= most or (above and value == least):
            return None
        return float(value)

    return check


def _place(value: Any) -> Any:
    """A folder or file, or whether to save at all; not a word that was meant as yes or no."""
    if isinstance(value, bool):
        return value
    return value if _text(value) and value.lower() not in {"y", "n", "yes", "no", "on", "off"} else None


DAY = 86_400.0

KINDS: Mapping[str, tuple[str, Check]] = {
    "model": ("text", _text),
    "base_url": ("text", _text),
    "format": ("text", _text),
    "dialect": ("text", _text),
    "temperature": ("a number from 0 to 5", _number(0, 5)),
    "max_tokens": ("a whole number from 1", _whole(1)),
    "seed": ("a whole number from 0", _whole(0)),
    "top_p": ("a number above 0 and up to 1", _number(0, 1, above=True)),
    "server_stop": ("true or false", _bool),
    "constrain": ("auto, on or off", lambda value: _one_of(value, ("auto", "on", "off"))),
    "check_numbers": ("true or false", _bool),
    "max_steps": ("a whole number from 1", _whole(1)),
    "deadline": ("seconds, more than 0 and at most a day (86400)", _number(0, DAY, above=True)),
    "tools": ("a list of names, none of them empty", _names),
    "tool_files": ("a list of files, none of them empty", _names),
    "tool_timeout": ("seconds, more than 0 and at most a day (86400)", _number(0, DAY, above=True)),
    "save": ("a folder, a file, true or false", _place),
}
"""Setting → its type in words, and the check for it."""


def _seen(value: Any) -> str:
    """A value in words.

    >>> _seen("12:30")
    "the text '12:30'"
    """
    if isinstance(value, (dict, list, tuple)):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "empty", True: "true", False: "false"}[value]
    shown = repr(value[:60]) if isinstance(value, str) else str(value)[:60]
    return f"the {'text' if isinstance(value, str) else 'number'} {shown}"


def _shown(url: str) -> str:
    """An address without name and password."""
    return re.sub(r"//[^/@]*@", "//", url)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
