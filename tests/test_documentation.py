"""What the documents say is what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from react_agent.cli import SUMMARIES
from react_agent.config import KINDS, Settings
from react_agent.endpoints import KINDS as ENDPOINTS
from react_agent.endpoints.formats import FORMATS
from react_agent.prompt import Prompt
from react_agent.transcript import read

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def test_the_settings_page_lists_every_setting_with_its_type_and_default() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]*) \|$", page, re.MULTILINE)
    assert [(key, words.strip()) for key, words, _ in rows] == [
        (key, words) for key, (words, _) in KINDS.items()
    ]
    built_in = Settings()
    for key, _, shown in rows:
        value = getattr(built_in, key)
        if isinstance(value, (bool, int, float, str)):
            assert shown.strip(" `") == str(value).lower(), key
        elif value:
            assert shown.strip() == ", ".join(value), key


def test_the_check_script_runs_the_test_command_of_the_readme() -> None:
    command = re.search(r"passes the tests:\n\n```sh\n(.+)\n```", README)
    assert command is not None
    assert command[1] in (ROOT / "scripts" / "check").read_text(encoding="utf-8").splitlines()


def test_the_readme_names_every_kind_of_endpoint_and_every_chat_format() -> None:
    assert set(re.findall(r"`-m ([\w-]+?)(?::|`)", README)) == set(ENDPOINTS)
    formats = README[README.index("`--format chatml`") :].split("\n\n")[0]
    assert set(re.findall(r"`(?:--format )?([\w-]+)`", formats)) == set(FORMATS)


def test_the_run_in_the_readme_is_the_one_that_was_saved() -> None:
    shown = re.search(r"<!-- run -->\n```\n(.+?)```", README, re.DOTALL)
    assert shown is not None
    run = read(ROOT / "transcripts" / "percentage.yaml").transcript
    prompt = Prompt.load(run.dialect)
    written = "".join(part.text for part in prompt.render(run.question, run.specs, run.turns))
    start = written.rindex("Question:")
    assert written[start:].removesuffix(f"\n{prompt.texts.cue}").replace("?Thought", "?\nThought") == shown[
        1
    ].rstrip("\n")


def test_the_example_for_python_runs_as_it_stands() -> None:
    code = re.search(r"<!-- python -->\n```python\n(.+?)```", README, re.DOTALL)
    assert code is not None
    run = subprocess.run([sys.executable, "-c", code[1]], capture_output=True, text=True, check=True)
    assert run.stdout == "I calculate. ['42']\nI know. []\n"


def test_the_tool_of_the_readme_is_one(tmp_path: Path) -> None:
    code = re.search(r"```python\n(# prices\.py\n.+?)```", README, re.DOTALL)
    assert code is not None
    (tmp_path / "prices.py").write_text(code[1], encoding="utf-8")
    command = [sys.executable, "-m", "react_agent", "tools", "run", "price", "lamp", "--tools", "prices.py"]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.strip() == "24.9"


def test_every_command_and_flag_in_the_documents_exists() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for line in re.findall(r"(?:^|\| |`|bin/)react ([a-z]+[^\n`]*)", text, re.MULTILINE):
            name = line.split()[0]
            assert name in SUMMARIES, f"{page.name}: react {line}"
            command = import_module(f"react_agent.cli.{name}").command
            known = {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)} | {"--help", "-h"}
            known |= {f for c in getattr(command, "commands", {}).values() for p in c.params for f in p.opts}
            bare = re.sub(r'"[^"]*"', "", line).split("#")[0].split(" | ")[0]
            for flag in re.findall(r"(?<=\s)--?[a-z][\w-]*", bare):
                assert flag in known, f"{page.name}: react {line}: {flag}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_file_that_is_named_is_there(page: Path) -> None:
    for name in re.findall(
        r"`((?:tests|benchmarks|examples|fuzz|parsers|prompts|react_agent)/[\w/.-]+)`",
        page.read_text("utf-8"),
    ):
        assert (ROOT / name).exists(), f"{page.name} names {name}"
