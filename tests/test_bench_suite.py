"""Suites: what is read, what is refused and in which words, and which tasks are chosen."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from react_agent.bench import Task, read_suite
from react_agent.bench.select import parse, select
from react_agent.errors import ConfigError

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")

TASK: dict[str, Any] = {"id": "a1", "cat": "arith", "question": "6*7?", "kind": "number", "answer": 42}


def example(kind: str) -> str:
    """The example of the documentation between two marks."""
    found = re.search(rf"<!-- {kind} -->\n```\w+\n(.+?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def jsonl(folder: Path, *tasks: dict[str, Any] | str) -> Path:
    path = folder / "suite.jsonl"
    lines = (task if isinstance(task, str) else json.dumps(task) for task in tasks)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def refused(path: Path, *words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_suite(path)
    for word in words:
        assert word in str(caught.value)


def test_the_jsonl_example_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "suite.jsonl").write_text(example("jsonl"), encoding="utf-8")
    suite = read_suite(tmp_path)
    assert (suite.name, suite.tools) == ("suite", ())
    assert suite.tasks == (
        Task("a1", "arith", "What is 6 times 7?", "number", 42.0, ("calculator",)),
        Task("t1", "time", "What time is it in Berlin?", "time", ("17:42",)),
        Task("n1", "none", "Who wrote Hamlet?", "string", ("Shakespeare",), ()),
    )


def test_the_yaml_example_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(example("yaml"), encoding="utf-8")
    suite = read_suite(tmp_path / "shop.yaml")
    assert (suite.name, suite.tools) == ("shop", (tmp_path / "tools.py",))
    assert [task.answer for task in suite.tasks] == [24.9, ("Norway", "Norge")]
    assert [task.tools for task in suite.tasks] == [("price",), None]


def test_the_page_lists_every_field(tmp_path: Path) -> None:
    from react_agent.bench.suite import FIELDS, TOLERANCE

    rows = PAGE[PAGE.index("| field | what it is |") :].split("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)) == FIELDS
    assert f"[{TOLERANCE}]" in rows


def test_a_suite_is_the_same_in_json_and_in_yaml(tmp_path: Path) -> None:
    tasks = [TASK, TASK | {"id": "t", "kind": "time", "answer": "12:30", "tools": []}]
    path = jsonl(tmp_path, *tasks)
    (tmp_path / "same.yaml").write_text(
        "- {id: a1, cat: arith, question: 6*7?, kind: number, answer: 42}\n"
        "- id: t\n  cat: arith\n  question: 6*7?\n  kind: time\n  answer: 12:30\n  tools: []\n",
        encoding="utf-8",
    )
    assert read_suite(path).tasks == read_suite(tmp_path / "same.yaml").tasks
    assert read_suite(path).hash == read_suite(tmp_path / "same.yaml").hash


@pytest.mark.parametrize(
    "change", [{"answer": 43}, {"question": "7*6?"}, {"tol": 1}, {"id": "a2"}, {"tools": []}]
)
def test_whatever_decides_what_is_right_changes_the_hash(tmp_path: Path, change: dict[str, Any]) -> None:
    before = read_suite(jsonl(tmp_path, TASK)).hash
    assert read_suite(jsonl(tmp_path, TASK | change)).hash != before


def test_empty_lines_windows_lines_and_a_byte_order_mark_are_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\r\n" + json.dumps(TASK).encode() + b"\r\n\r\n")
    assert [task.id for task in read_suite(path).tasks] == ["a1"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"awnser": 1}, "unknown field 'awnser'; fields: id, cat, question, kind, answer, tools, tol"),
        ({"id": 7}, "id must be"),
        ({"id": "../../x"}, "id must be"),
        ({"id": ".hidden"}, "id must be"),
        ({"id": "a/b"}, "id must be"),
        ({"id": "a@1"}, "id must be"),
        ({"id": ""}, "id must be"),
        ({"id": "x" * 101}, "id must be"),
        ({"id": "a\n"}, "id must be"),
        ({"cat": None}, "cat must be text that is not empty, not None"),
        ({"question": "  "}, "question must be text that is not empty"),
        ({"question": "\ud800"}, "question holds half a surrogate pair"),
        ({"kind": "words"}, "kind must be number, string, time, not 'words'"),
        ({"kind": ["number"]}, "kind must be"),
        ({"answer": "42"}, "answer must be a number, not '42'"),
        ({"answer": True}, "answer must be a number, not True"),
        ({"answer": 10**400}, "answer must be a finite number"),
        ({"kind": "time"}, "answer must be a time from 00:00 to 23:59, not 42"),
        ({"kind": "time", "answer": "24:00"}, "answer must be a time"),
        ({"kind": "time", "answer": "5:42 pm"}, "answer must be a time"),
        ({"kind": "string"}, "answer must be a list of texts, not 42"),
        ({"kind": "string", "answer": []}, "answer must hold at least one text"),
        ({"kind": "string", "answer": ["a", 1]}, "answer must be text"),
        ({"kind": "string", "answer": [" "]}, "answer must be text that is not empty"),
        ({"tools": "calculator"}, "tools must be a list of texts"),
        ({"tools": [None]}, "tools must be text"),
        ({"tol": -1}, "tol must be 0 or more"),
        ({"tol": "1"}, "tol must be a number"),
        ({"kind": "string", "answer": "a", "tol": 1}, "tol counts for numbers only"),
    ],
)
def test_a_wrong_field_is_named_with_file_line_and_task(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = jsonl(tmp_path, TASK | {"id": "first"}, "", TASK | change)
    refused(path, f"{path}, line 3", words)
    if isinstance((TASK | change)["id"], str):
        refused(path, f"task {(TASK | change)['id'][:100]!r}")


@pytest.mark.parametrize("name", ["id", "cat", "question", "kind", "answer"])
def test_a_missing_field_is_named(tmp_path: Path, name: str) -> None:
    refused(
        jsonl(tmp_path, {key: value for key, value in TASK.items() if key != name}), f"'{name}' is missing"
    )


@pytest.mark.parametrize("again", ["a1", "A1"])
def test_an_id_that_stands_twice_is_told_with_both_lines(tmp_path: Path, again: str) -> None:
    path = jsonl(tmp_path, TASK, TASK | {"id": "b"}, TASK | {"id": again})
    refused(path, "line 3", f"task {again!r}", "line 1 has the same id")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "no JSON"),
        ("[]", "a task is a JSON object"),
        ("nothing", "no JSON"),
        ('{"id": "x", "id": "y"}', "'id' stands twice"),
        ('{"id": NaN}', "NaN is no number in JSON"),
        ('{"answer": ' + "9" * 5000 + "}", "no JSON"),
        ("[" * 200_000, "no JSON"),
        ("\0", "no JSON"),
    ],
)
def test_a_line_that_is_no_task_is_named(tmp_path: Path, line: str, words: str) -> None:
    refused(jsonl(tmp_path, TASK, line), "line 2", words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a list of tasks"),
        ("tasks: 3", "expected a list of tasks"),
        ("a: [", "suite.yaml: "),
        ("- 3\n", "line 1: a task is"),
        (
            "suite: x\ntasks:\n- id: a\n  cat: b\n",
            "line 3, task 'a': 'question', 'kind', 'answer' is missing",
        ),
        ("suite: 3\ntasks: [{}]\n", "line 2: 'id'"),
        ("tasks: []\n", "holds no task"),
        ("- &a {id: x}\n- *a\n", "anchors are not allowed"),
        ("- !!python/object/apply:os.system ['true']\n", "tags are not allowed"),
        ("- {id: a, id: b}\n", "stands twice"),
        ("--- 1\n--- 2\n", "second document"),
        ("- " * 150 + "x", "levels deep"),
    ],
)
def test_a_yaml_suite_that_is_none_is_told(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    refused(path, words)


YAML_TASKS = "tasks:\n- {id: a, cat: b, question: c, kind: number, answer: 1}\n"


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("tools: ../tools.py", "tools names '../tools.py', which is not in the folder"),
        ("tools: /etc/tools.py", "which is not in the folder"),
        ("tools: [tools.py, link.py]", "'link.py', which is not in the folder"),
        ("tools: 3", "tools must be a list of texts"),
        ("tool: tools.py", "unknown field 'tool'; fields: suite, tools, tasks"),
        ("suite: [a]", "suite must be its name"),
    ],
)
def test_a_head_names_files_of_its_folder_only(tmp_path: Path, head: str, words: str) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (tmp_path / "tools.py").write_text("", encoding="utf-8")
    (folder / "link.py").symlink_to(tmp_path / "tools.py")
    path = folder / "suite.yaml"
    path.write_text(f"{head}\n{YAML_TASKS}", encoding="utf-8")
    refused(path, str(path), words)


def test_a_file_that_cannot_be_a_suite_is_told(tmp_path: Path) -> None:
    refused(tmp_path / "gone.jsonl", "No such file")
    refused(tmp_path / "suite.json", "a suite is a .jsonl, .yaml, .yml file")
    refused(tmp_path, "holds no suite")
    (tmp_path / "bytes.jsonl").write_bytes(b"{}\n\xff\n")
    refused(tmp_path / "bytes.jsonl", "line 2: no UTF-8 at byte 3")


def test_a_file_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = jsonl(tmp_path, TASK)
    monkeypatch.setattr("react_agent.bench.suite.MOST_BYTES", path.stat().st_size - 1)
    refused(path, "is longer than")


def test_a_folder_holds_one_suite(tmp_path: Path) -> None:
    jsonl(tmp_path, TASK)
    (tmp_path / "tools.py").write_text("raise SystemExit(7)", encoding="utf-8")
    assert read_suite(tmp_path).tools == ()
    (tmp_path / "other.yaml").write_text("- 3", encoding="utf-8")
    refused(tmp_path, "holds 2 suites: other.yaml, suite.jsonl. Name one of them.")


# ---- which tasks


TASKS = tuple(
    Task(id, cat, question, "number", 1.0)
    for id, cat, question in [
        ("a1", "arith", "6 times 7"),
        ("a2", "arith", "the root of 9"),
        ("t1", "time", "What time is it in Tokyo?"),
        ("t2", "time", "What time is it in Berlin?"),
    ]
)


@pytest.mark.parametrize(
    ("expression", "ids"),
    [
        ("tokyo", "t1"),
        ("TIME", "a1 t1 t2"),
        ("time and not times", "t1 t2"),
        ("tokyo or root", "a2 t1"),
        ("not (tokyo or berlin) and arith", "a1 a2"),
        ("a1 or t1 and berlin", "a1"),
        ("(a1 or t1) and tokyo", "t1"),
        ("not not a1", "a1"),
        ("t1", "t1"),
    ],
)
def test_an_expression_chooses(expression: str, ids: str) -> None:
    assert " ".join(task.id for task in select(TASKS, expression)) == ids


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "a word is missing at its end"),
        ("and", "a word is missing"),
        ("a or", "a word is missing at its end"),
        ("(a", "a bracket is not closed at its end"),
        ("a)", "')' is not expected there"),
        ("a b", "'b' is not expected there"),
        ("not", "a word is missing at its end"),
        ("(" * 10_000, "too many brackets"),
        ("not " * 10_000, "too many brackets"),
    ],
)
def test_an_expression_that_is_none_is_told(expression: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        parse(expression)


def test_an_expression_may_be_long() -> None:
    assert parse(" or ".join(["x"] * 5_000 + ["tokyo"]))("in tokyo")
    assert not parse(" and ".join(["tokyo"] * 5_000 + ["x"]))("in tokyo")


def test_categories_and_the_first_ones() -> None:
    assert [task.id for task in select(TASKS, categories=["time"])] == ["t1", "t2"]
    assert [task.id for task in select(TASKS, categories=["time", "arith"], first=3)] == ["a1", "a2", "t1"]
    assert [task.id for task in select(TASKS, "berlin or root", ["time"], 1)] == ["t2"]
    with pytest.raises(ConfigError, match=r"no such category\. Did you mean time"):
        select(TASKS, categories=["tme"])
    with pytest.raises(ConfigError, match="-k nonsense: no task fits"):
        select(TASKS, "nonsense")


# ---- what is expected


def test_a_task_may_expect_more_than_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    task = {"id": "a", "cat": "c", "question": "q", "kind": "number", "answer": 1}
    path.write_text(json.dumps(task))
    plain = read_suite(path)
    path.write_text(json.dumps({**task, "expect": ["forged: 0", "steps<=4"]}))
    suite = read_suite(path)
    assert [str(each) for each in suite.tasks[0].expect] == ["forged: 0", "steps<=4"]
    assert suite.hash != plain.hash
    path.write_text(json.dumps({**task, "expect": {"forged": 0, "steps": "<=4"}}))
    assert read_suite(path).hash == suite.hash
    path.write_text(json.dumps({**task, "expect": "forged: 0"}))
    assert len(read_suite(path).tasks[0].expect) == 1


def test_the_hash_of_a_suite_without_expectations_stays(tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    path.write_text(json.dumps(TASK))
    assert read_suite(path).hash == (
        "sha256:2d36174623b480c9f5c7171efe73e82b4f18d0d11cf7b499cf534f106e73a59d"
    )


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        (["forgd: 0"], "line 1, task 'a': expect: there is no 'forgd'. Did you mean forged?"),
        (5, "expected a mapping or a list"),
        (["dialect: json"], "dialect is chosen for the whole bench"),
    ],
)
def test_a_wrong_expectation_names_file_line_and_task(tmp_path: Path, expect: object, message: str) -> None:
    path = tmp_path / "suite.jsonl"
    task = {"id": "a", "cat": "c", "question": "q", "kind": "number", "answer": 1, "expect": expect}
    path.write_text(json.dumps(task))
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_suite(path)
