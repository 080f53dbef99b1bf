"""Settings: where they come from, which one counts, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from react_agent import config
from react_agent.config import Settings, read_file, read_settings
from react_agent.endpoints import address_of
from react_agent.endpoints.formats import FORMATS
from react_agent.errors import ConfigError, PromptError

EMPTY: dict[str, str] = {}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REACT_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY", "REACT_MODELS_DIR", "REACT_MODELS_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("REACT_MODELS_DIR", str(tmp_path / "models"))
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def user(home: Path, text: str) -> Path:
    return write(home / "config" / "react-agent" / "settings.yaml", text)


def message(error: ConfigError) -> str:
    return " ".join([str(error), *getattr(error, "__notes__", [])])


def test_without_anything_the_settings_are_built_in(tmp_path: Path) -> None:
    assert read_settings(folder=tmp_path, environment=EMPTY) == Settings()


def test_each_source_replaces_the_one_before_key_by_key(home: Path) -> None:
    project = home / "project"
    user(home, "model: openai:user\nseed: 1\nmax_steps: 1\ntemperature: 0.1\n")
    write(project / ".react.yaml", "model: openai:project\nseed: 2\nmax_steps: 2\n")
    environment = {"REACT_MODEL": "openai:environment", "OPENAI_BASE_URL": "http://h"}
    found = read_settings({"seed": 4, "max_steps": None}, folder=project, environment=environment)
    assert found == Settings(
        model="openai:environment", base_url="http://h", seed=4, max_steps=2, temperature=0.1
    )
    assert (
        read_settings({"model": "openai:flag"}, folder=project, environment=environment).model
        == "openai:flag"
    )
    assert read_settings(folder=project, environment=EMPTY).model == "openai:project"
    assert read_settings(folder=home, environment=EMPTY).model == "openai:user"


@pytest.mark.parametrize(
    "key", ["sk-abc\r\nX-Evil: 1", "schlüssel-lang", "sk-\udcff\udcfe", "sk\x00abcdefgh"]
)
def test_a_key_that_cannot_be_sent_is_refused_and_not_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY holds a character") as caught:
        read_settings(folder=tmp_path, environment={"OPENAI_API_KEY": key})
    assert key not in "".join([str(caught.value), *caught.value.__notes__])


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    environment = {"REACT_MODEL": "", "OPENAI_API_KEY": "  ", "OPENAI_BASE_URL": ""}
    assert read_settings(folder=tmp_path, environment=environment) == Settings()


def test_the_project_file_is_the_nearest_up_to_the_root_of_the_repository(home: Path) -> None:
    write(home / ".react.yaml", "seed: 9\n")
    root = home / "repository"
    deep = root / "a" / "b"
    deep.mkdir(parents=True)
    (root / ".git").mkdir()
    assert config.project_file(deep) is None, "a file above the repository is not this project's"
    at_root = write(root / ".react.yaml", "seed: 1\n")
    assert config.project_file(deep) == at_root
    nearer = write(root / "a" / ".react.yaml", "seed: 2\n")
    assert config.project_file(deep) == nearer


def test_without_a_repository_only_the_folder_itself_counts(home: Path) -> None:
    inner = home / "inner"
    inner.mkdir()
    file = write(home / ".react.yaml", "seed: 9\n")
    assert config.project_file(inner) is None
    assert config.project_file(home) == file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_step: 3", ["'max_step'", "Did you mean max_steps"]),
        ("Temperature: 1", ["'Temperature'", "Did you mean temperature"]),
        ("zzzzz: 1", ["'zzzzz'", "There are: model, base_url"]),
        ("max_steps: three", ["max_steps", "a whole number from 1", "the text 'three'"]),
        ("max_steps: 0", ["max_steps", "a whole number from 1", "the number 0"]),
        ("max_steps: true", ["max_steps", "not true"]),
        ("max_steps: 2.5", ["a whole number", "the number 2.5"]),
        ("temperature: hot", ["temperature", "a number from 0 to 5", "the text 'hot'"]),
        ("temperature: .nan", ["temperature", "a number from 0 to 5"]),
        ("temperature:", ["temperature", "not empty"]),
        ("deadline: .inf", ["deadline", "seconds"]),
        ("deadline: 100000", ["deadline", "at most a day (86400)", "the number 100000"]),
        ('tools: [""]', ["tools", "none of them empty", "a list"]),
        ("tools: calculator", ["tools", "a list of names", "the text 'calculator'"]),
        ("tools: [1]", ["tools", "a list of names", "not a list"]),
        ("model: {a: b}", ["model", "text", "a mapping"]),
        ("- a\n- b", ["`key: value`"]),
        ("just words", ["`key: value`"]),
        ("a: [", ["settings.yaml"]),
        ("seed: 1\nseed: 2", ["'seed' stands twice"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(home: Path, text: str, words: list[str]) -> None:
    path = user(home, text + "\n")
    with pytest.raises(ConfigError) as caught:
        read_settings(folder=home, environment=EMPTY)
    assert str(path) in str(caught.value)
    for word in words:
        assert word in message(caught.value)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("model: no", "model", "no"),
        ("model: 2024-01-01", "model", "2024-01-01"),
        ("dialect: on", "dialect", "on"),
        ("model: 12:30", "model", "12:30"),
        ("tools: [no, yes]", "tools", ("no", "yes")),
        ("seed: 12", "seed", 12),
        ("temperature: 1", "temperature", 1.0),
        ("temperature: 1e-1", "temperature", 0.1),
        ("save: false", "save", False),
        ("save: true", "save", True),
    ],
)
def test_s68_a_word_means_what_json_would_say(home: Path, text: str, key: str, value: Any) -> None:
    assert read_file(user(home, text)) == {key: value}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_tokens: 1_000", "not the text '1_000'"),
        ("deadline: 12:30", "not the text '12:30'"),
        ("seed: 0o17", "not the text '0o17'"),
        ("model: 7", "not the number 7"),
        ("dialect: true", "not true"),
        ("save: no", "Write false for not saving"),
        ("save: Off", "Write false for not saving"),
    ],
)
def test_s68_nothing_is_turned_into_another_type_silently(home: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_file(user(home, text))
    assert words in message(caught.value)


@pytest.mark.parametrize("key", ["api_key", "OPENAI_API_KEY", "secret", "password", "token", "Authorization"])
def test_s69_secrets_are_refused_and_not_repeated(home: Path, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_file(user(home, f"{key}: sk-very-secret\n"))
    assert key in message(caught.value)
    assert "OPENAI_API_KEY in the environment" in message(caught.value)
    assert "sk-very-secret" not in message(caught.value)


def test_s69_a_password_in_an_address_is_refused_and_not_repeated(home: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_file(user(home, "base_url: https://me:hunter2@host/v1\n"))
    assert "base_url" in message(caught.value)
    assert "hunter2" not in message(caught.value)


def test_s69_a_key_does_not_show_in_the_settings() -> None:
    settings = read_settings(environment={"OPENAI_API_KEY": "sk-very-secret"}, folder=Path("/"))
    assert settings.secrets == ("sk-very-secret",)
    assert "sk-very-secret" not in repr(settings)


def test_s66_a_tag_builds_nothing(home: Path) -> None:
    mark = home / "PWNED"
    path = user(home, f'model: !!python/object/apply:os.system ["touch {mark}"]\n')
    with pytest.raises(ConfigError, match="tags are not allowed"):
        read_file(path)
    assert not mark.exists()


def test_s67_an_alias_bomb_is_refused(home: Path) -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 8)]
    path = user(home, "\n".join(["l0: &l0 lol", *levels]))
    with pytest.raises(ConfigError, match="are not allowed"):
        read_file(path)


def test_a_settings_file_has_a_longest_length(home: Path) -> None:
    with pytest.raises(ConfigError, match="too long"):
        read_file(user(home, "#" * 1_000_001))


def test_s88_line_ends_of_windows_change_nothing(home: Path) -> None:
    path = home / "crlf.yaml"
    path.write_bytes(b"model: openai:m\r\ntools:\r\n- calculator\r\n")
    assert read_file(path) == {"model": "openai:m", "tools": ("calculator",)}


def test_paths_in_a_file_are_meant_from_there(home: Path) -> None:
    found = read_file(user(home, "save: ./no\ntool_files: [mine.py, /a/b.py]\n"))
    folder = home / "config" / "react-agent"
    assert found == {"save": str(folder / "no"), "tool_files": (str(folder / "mine.py"), "/a/b.py")}


def test_a_project_file_cannot_have_code_run(home: Path) -> None:
    path = write(home / ".react.yaml", "tool_files: [evil.py]\n")
    with pytest.raises(ConfigError) as caught:
        read_settings(folder=home, environment=EMPTY)
    assert str(path) in message(caught.value)
    assert "--tools FILE.py" in message(caught.value)


KEY = {"OPENAI_API_KEY": "sk-very-secret"}


@pytest.mark.parametrize(
    ("project", "more"),
    [
        ("base_url: http://evil\nmodel: openai:m", {}),
        ("base_url: http://evil", {"REACT_MODEL": "m"}),
        ("model: llamacpp:http://evil", {}),
        ("model: llamacpp:http://evil", {"OPENAI_BASE_URL": "http://mine"}),
        ("base_url: http://evil", {"REACT_MODEL": "llamacpp:"}),
        ("model: http://evil", {}),
        ("model: kobold:http://evil", {}),
    ],
)
def test_s69_a_key_is_not_sent_where_a_project_file_says(
    home: Path, project: str, more: dict[str, str]
) -> None:
    write(home / ".react.yaml", project + "\n")
    with pytest.raises(ConfigError, match="the key is not sent there"):
        read_settings(folder=home, environment=KEY | more)
    assert read_settings(folder=home, environment=more).api_key is None


def test_s69_a_key_of_another_service_is_not_sent_there_either(home: Path) -> None:
    write(home / ".react.yaml", "model: hf:m\nbase_url: http://evil\n")
    with pytest.raises(ConfigError, match="HF_TOKEN is set: the key is not sent there"):
        read_settings(folder=home, environment={"HF_TOKEN": "hf-very-secret"})
    assert read_settings(folder=home, environment=KEY).api_key is None


def test_a_project_file_cannot_have_a_program_run(home: Path) -> None:
    write(home / ".react.yaml", "model: cmd:rm -rf .\n")
    with pytest.raises(ConfigError, match="cannot have a program run"):
        read_settings(folder=home, environment=EMPTY)


@pytest.mark.parametrize(
    ("model", "environment", "key", "url"),
    [
        ("ollama:m", {"OLLAMA_HOST": "0.0.0.0"}, None, "http://127.0.0.1:11434"),
        ("ollama-chat:m", {"OLLAMA_API_KEY": "k"}, "k", "http://127.0.0.1:11434"),
        ("hf:org/m", {"HF_TOKEN": "k"}, "k", "https://router.huggingface.co/hf-inference/models/org/m"),
        ("deepseek:m", {"DEEPSEEK_API_KEY": "k"}, "k", "https://api.deepseek.com/beta"),
        ("openai:m", {"HF_TOKEN": "k"}, "sk-very-secret", "http://mine"),
        ("vllm:m", {}, "sk-very-secret", "http://mine"),
    ],
)
def test_each_service_has_its_own_variables(
    home: Path, model: str, environment: dict[str, str], key: str | None, url: str
) -> None:
    """OpenAI's key and address are nothing to them."""
    every = {**KEY, "OPENAI_BASE_URL": "http://mine", **environment}
    settings = read_settings({"model": model}, folder=home, environment=every)
    assert settings.api_key == key
    assert address_of(config.full_name(settings), settings.base_url) == url


@pytest.mark.parametrize(
    ("project", "more"),
    [
        ("base_url: http://course\nmodel: openai:m", {"OPENAI_BASE_URL": "http://course"}),
        ("model: llamacpp:http://course", {"REACT_MODEL": "llamacpp:http://course"}),
        ("base_url: http://course", {"REACT_MODEL": "local:gemma-3-270m"}),
        ("base_url: http://course", {"REACT_MODEL": "llamacpp:http://mine"}),
        ("model: openai:m", {}),
        ("seed: 1", {}),
    ],
)
def test_a_key_is_sent_where_the_user_says(home: Path, project: str, more: dict[str, str]) -> None:
    write(home / ".react.yaml", project + "\n")
    assert read_settings(folder=home, environment=KEY | more).api_key == "sk-very-secret"


def test_an_empty_file_sets_nothing(home: Path) -> None:
    assert read_file(user(home, "# nothing yet\n")) == {}


@pytest.mark.skipif(not hasattr(Path, "chmod"), reason="no file modes")
def test_a_folder_in_the_place_of_a_settings_file_is_passed_over(home: Path) -> None:
    (home / ".react.yaml").mkdir()
    assert read_settings(folder=home, environment=EMPTY) == Settings()


@pytest.mark.parametrize(
    ("model", "url", "full"),
    [
        (None, None, "local:qwen2.5-coder-0.5b-instruct"),
        ("gemma-3-270m", None, "local:gemma-3-270m"),
        ("some/file.gguf", None, "local:some/file.gguf"),
        ("NAME", "http://h:1", "openai:NAME"),
        ("llama3:8b", "http://h:1", "openai:llama3:8b"),
        ("openai:NAME", None, "openai:NAME"),
        ("llamacpp:http://h:1", None, "llamacpp:http://h:1"),
        ("gemma-3-270m", "http://h:1", "openai:gemma-3-270m"),
        ("script:a.txt", "http://h:1", "script:a.txt"),
        (None, "http://h:1", "http://h:1"),
        (None, "h:1/v1", "http://h:1/v1"),
        ("http://h:1/v1", None, "http://h:1/v1"),
        ("human", None, "human"),
        ("ollama:llama3:8b", None, "ollama:llama3:8b"),
    ],
)
def test_a_name_is_made_whole(model: str | None, url: str | None, full: str) -> None:
    assert config.full_name(Settings(model=model, base_url=url)) == full


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("gema-3-270m", "Did you mean gemma-3-270m"),
        ("opnai:x", "Did you mean openai:"),
        ("gpt", "--base-url URL -m NAME"),
    ],
)
def test_a_name_that_does_not_exist_is_answered_with_near_ones(model: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.full_name(Settings(model=model))
    assert words in message(caught.value)


def test_build_makes_the_agent_of_the_settings(home: Path) -> None:
    script = write(home / "replies.txt", "Final Answer: 4\n")
    agent = config.build(
        Settings(model=f"script:{script}", tools=("calculator", "calculator"), max_steps=3, deadline=9.0)
    )
    assert agent.endpoint.kind == "script"
    assert [spec.name for spec in agent.toolbox.specs] == ["calculator"]
    assert (agent.max_steps, agent.seconds, agent.prompt.name) == (3, 9.0, "react")


def test_build_takes_tools_from_files_and_none_for_no_tools(home: Path) -> None:
    file = write(
        home / "mine.py",
        "from react_agent.tools import tool\n"
        "@tool\n"
        "def shout(text: str) -> str:\n"
        '    "Shout."\n'
        "    return text\n",
    )
    only_file = config.toolbox(Settings(tools=("none",), tool_files=(str(file),)))
    assert [spec.name for spec in only_file.specs] == ["shout"]
    assert config.toolbox(Settings(tools=("none",))).specs == ()
    with pytest.raises(ConfigError, match="calculator"):
        config.toolbox(Settings(tools=("calculater",)))


def test_build_names_a_dialect_that_is_not_there(home: Path) -> None:
    script = write(home / "replies.txt", "x\n")
    with pytest.raises(PromptError, match="'haiku'"):
        config.build(Settings(model=f"script:{script}", dialect="haiku"))


def test_a_model_of_the_catalogue_that_is_not_here_says_how_to_fetch_it() -> None:
    with pytest.raises(ConfigError, match="react models pull gemma-3-270m"):
        config.endpoint(Settings(model="local:gemma-3-270m"))


def test_the_format_of_a_server_is_the_one_that_is_set() -> None:
    described = config.endpoint(Settings(model="openai:m", base_url="http://127.0.0.1:9", format="gemma"))
    assert described.describe()["format"] == "gemma"
    with pytest.raises(ConfigError, match=next(iter(FORMATS))):
        config.endpoint(Settings(model="openai:m", base_url="http://127.0.0.1:9", format="gema"))


def test_sampling_goes_to_the_endpoint() -> None:
    sampling = config.sampling(Settings(temperature=0.7, max_tokens=9, seed=3, top_p=0.5))
    assert (sampling.temperature, sampling.max_tokens, sampling.seed, sampling.top_p) == (0.7, 9, 3, 0.5)


def test_without_server_stop_no_stop_string_is_asked_for(tmp_path: Path) -> None:
    script = tmp_path / "replies.txt"
    script.write_text("Final Answer: 1")
    asked = {"model": f"script:{script}"}
    assert config.build(read_settings(asked)).prompt.stop == ("\nObservation",)
    assert config.build(read_settings(asked | {"server_stop": False})).prompt.stop == ()


def test_a_form_that_is_asked_for_must_be_possible(tmp_path: Path) -> None:
    script = tmp_path / "replies.txt"
    script.write_text("Final Answer: 1\n", encoding="utf-8")
    asked = {"model": f"script:{script}"}
    assert config.build(read_settings(asked | {"constrain": "auto"})).constraint() is None
    with pytest.raises(
        ConfigError, match="cannot be held to a form: script takes none for the dialect react"
    ):
        config.build(read_settings(asked | {"constrain": "on"}))
    held = {"model": "llamacpp:http://127.0.0.1:9", "constrain": "on"}
    assert config.build(read_settings(held)).constraint() is not None
    with pytest.raises(ConfigError, match="llamacpp takes none for the dialect paper"):
        config.build(read_settings(held | {"dialect": "paper"}))


@pytest.mark.parametrize(
    ("model", "wanted", "asked"),
    [
        ("openai:m", None, True),
        ("human", None, False),
        ("script:r.txt", None, False),
        ("openai:m", False, False),
        ("script:r.txt", True, True),
    ],
)
def test_only_models_are_asked_about_numbers_unless_one_says_so(
    model: str, wanted: bool | None, asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.txt").write_text("Final Answer: 1", encoding="utf-8")
    assert config.build(Settings(model=model, check_numbers=wanted)).check_numbers == asked
