"""`react view`: pages written, shown, and taken apart again."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runs import Home, assert_one_line
from test_page import ROOT, SAVED, shown
from tree import parse

from react_agent.transcript import read
from react_agent.viewer import open_run, page
from react_agent.viewer.extract import runs_inside


def test_view_writes_a_page_from_which_the_run_comes_out_again(tmp_path: Path) -> None:
    home, run = Home(tmp_path), ROOT / "transcripts" / "chinese.yaml"
    seen = home.react("view", str(run), "-o", "page.html")
    assert (seen.exit_code, seen.stdout) == (0, "")
    assert "wrote page.html" in seen.stderr
    assert home.react("view", str(run)).stdout == (tmp_path / "page.html").read_text("utf-8")
    assert home.react("view", "--extract", "page.html").stdout == run.read_text("utf-8")
    assert home.react("view", "--extract", "page.html", "-o", "back.yaml").exit_code == 0
    assert (tmp_path / "back.yaml").read_bytes() == run.read_bytes()


def test_a_page_is_right_in_any_encoding_of_standard_output(tmp_path: Path) -> None:
    home, run = Home(tmp_path), ROOT / "transcripts" / "chinese.yaml"
    env = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"}
    done = home.process("view", str(run), env=env)
    assert done.returncode == 0, done.stderr
    tree = parse(done.stdout.decode("ascii"))
    assert tree.one("h1").text == read(run).transcript.question
    assert tree.one("style").text == shown(run).one("style").text


def test_view_of_a_folder_leaves_out_what_is_no_run(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for path in SAVED[:3]:
        home.write(f"runs/{path.name}", path.read_bytes())
    home.write("runs/no-run.yaml", "a: 1\n")
    seen = home.react("view", "--index", "runs", "-o", "all.html")
    assert seen.exit_code == 0
    assert "left out" in seen.stderr
    tree = parse((tmp_path / "all.html").read_text("utf-8"))
    assert len(tree.all("details", "run")) == 3
    assert home.react("view", "--extract", "all.html", "-o", "out").exit_code == 0
    for path in SAVED[:3]:
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()


def test_a_folder_is_shown_like_an_index(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for path in SAVED[:2]:
        home.write(f"runs/{path.name}", path.read_bytes())
    assert home.react("view", "runs").stdout == home.react("view", "--index", "runs").stdout


def test_open_shows_the_page_in_the_browser_of_the_user(tmp_path: Path) -> None:
    home = Home(tmp_path)
    code = "import sys, pathlib; pathlib.Path('opened').write_text(sys.argv[1])"
    home.write("browser.py", code)
    browser = f"{sys.executable} {tmp_path / 'browser.py'} %s"
    done = home.process("view", str(SAVED[0]), "--open", env={"BROWSER": browser, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    address = (tmp_path / "opened").read_text()
    made_page = Path(address.removeprefix("file://"))
    assert address.startswith("file:///")
    assert made_page.name == f"{SAVED[0].stem}.html"
    assert parse(made_page.read_text("utf-8")).one("h1").text
    shutil.rmtree(made_page.parent)


def refused(home: Home, *arguments: str) -> str:
    seen = home.react("view", *arguments)
    assert seen.exit_code != 0
    assert_one_line(seen.stderr)
    return seen.stderr


def test_view_overwrites_no_run_and_says_what_is_wrong(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write("r.yaml", SAVED[0].read_bytes())
    (tmp_path / "link.html").symlink_to("r.yaml")
    home.write("empty/x.txt", "")
    home.write("plain.html", "<p>no run</p>")
    for name in ("r.yaml", "other.yaml", "link.html"):
        assert "it would be overwritten" in refused(home, "r.yaml", "-o", name)
    assert (tmp_path / "r.yaml").read_bytes() == SAVED[0].read_bytes()
    assert "There is no saved run in empty" in refused(home, "--index", "empty")
    assert "Name a run" in refused(home)
    assert "cannot be written" in refused(home, "r.yaml", "-o", "missing/page.html")
    assert "was it made by `react view`?" in refused(home, "--extract", "plain.html")
    home.react("view", "r.yaml", "-o", "page.html")
    assert "would be overwritten" in refused(home, "--extract", "page.html", "-o", "r.yaml")


@pytest.mark.parametrize("name", ["../../evil.yaml", "/etc/evil.yaml", "..\\evil.yaml", "..", ""])
def test_a_run_is_never_taken_out_into_another_folder(name: str, tmp_path: Path) -> None:
    found = runs_inside(page([replace(open_run(SAVED[0]), name=name)]))
    for own, _ in found:
        assert re.fullmatch(r"[\w-]+\.yaml", own)


def test_s69_a_configured_secret_is_not_in_the_page(tmp_path: Path) -> None:
    home = Home(tmp_path)
    text = SAVED[0].read_text("utf-8").replace("question: ", "question: sk-verysecret123 ", 1)
    home.write("r.yaml", text)
    assert home.react("view", "r.yaml", "-o", "page.html", OPENAI_API_KEY="sk-verysecret123").exit_code == 0
    made_page = (tmp_path / "page.html").read_text("utf-8")
    (run,) = runs_inside(made_page)
    assert "sk-verysecret123" not in made_page
    assert b"sk-verysecret123" not in run[1]
    assert b"[redacted]" in run[1]


def test_the_commands_of_the_documentation_do_what_it_says(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for path in SAVED:
        home.write(f"transcripts/{path.name}", path.read_bytes())
    home.write(".local/share/react-agent/runs/last.yaml", SAVED[0].read_bytes())
    blocks = re.findall(r"```sh\n(.+?)```", (ROOT / "docs" / "page.md").read_text("utf-8"), re.DOTALL)
    lines = [line.split("  #")[0] for block in blocks for line in block.splitlines()]
    assert len(lines) > 10
    for line in lines:
        command, _, output = line.partition(" > ")
        if "--open" in command:
            continue
        done = home.react(*shlex.split(command)[1:])
        assert done.exit_code == 0, (line, done.stderr)
        if output:
            home.write(output.strip(), done.stdout)
    assert done.stdout == "15\n"
    assert (tmp_path / "back.yaml").read_bytes() == (SAVED[1]).read_bytes()
    made_files = sorted(path.name for path in tmp_path.glob("*.html"))
    assert made_files == ["all.html", "cards.html", "page.html", "two.html", "worksheet.html"]
