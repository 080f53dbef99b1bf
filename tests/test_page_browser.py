"""The page in a real Chromium: what is drawn, what the keys do, and that nothing of a run becomes live."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import TAB, Browser, chromium, needs_browser, needs_poppler
from servers import head, raw, serving, status
from test_page import HOSTILE, SAVED, hostile, long_run, made, prompts_of, shortening_run

from react_agent.prompt import Prompt
from react_agent.transcript import dumps
from react_agent.viewer import open_run, page
from react_agent.viewer.run import run_of
from react_agent.viewer.steps import ELEMENTS
from react_agent.visible import visible

pytestmark = [pytest.mark.browser, needs_browser]

ROOT = Path(__file__).parent.parent
THEMES = ("light", "dark")

CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgb = colour => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
  .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
const behind = element => {
  for (let at = element; at; at = at.parentElement) {
    const seen = rgb(getComputedStyle(at).backgroundColor);
    if (seen[3] === 255) return seen;
  }
  return [255, 255, 255];
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const low = [];
while (texts.nextNode()) {
  const text = texts.currentNode, element = text.parentElement;
  if (!text.data.trim() || !element.checkVisibility() || element.closest('script, title')) continue;
  const style = getComputedStyle(element);
  const [a, b] = [light(rgb(element.closest('svg') ? style.fill : style.color)), light(behind(element))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) low.push([text.data.trim().slice(0, 40), element.className, ratio.toFixed(2)]);
}
return low;
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def recovered(browser: Browser, tmp_path: Path) -> Browser:
    """The browser, with the page of a run of three steps."""
    browser.open(written(tmp_path, page([open_run(ROOT / "transcripts" / "recovered.yaml")])))
    return browser


def written(folder: Path, text: str) -> Path:
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    return path


def requests_of(browser: Browser) -> list[str]:
    """The addresses that were asked for since the page was opened, without the page itself."""
    events = (json.loads(entry["message"])["message"] for entry in browser.log("performance"))
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return [url for url in asked if not url.startswith("file:") or not url.endswith("page.html")]


def assert_quiet(browser: Browser) -> None:
    """Nothing was asked for, nothing stands in the console, no dialog is open."""
    assert requests_of(browser) == []
    assert browser.log("browser") == []
    assert browser.run("return document.title") is not None  # an open dialog would be an error here


def focused(browser: Browser) -> str:
    return str(browser.run("return document.activeElement.id"))


# ---- what is drawn


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_the_spans_stand_where_the_parser_says(browser: Browser, tmp_path: Path, path: Path) -> None:
    run = open_run(path)
    browser.open(written(tmp_path, page([run])))
    places = browser.run("""
        return [...document.querySelectorAll('.step')].map(step => {
          const reply = step.querySelector('.reply pre'), range = document.createRange();
          const spans = [...reply.children].map(span => {
            range.setStart(reply, 0); range.setEndBefore(span);
            const start = range.toString().length;
            return [span.localName, start, start + span.textContent.length];
          });
          return [reply.textContent, spans];
        });""")
    for step, (text, spans) in zip(run.steps, places, strict=True):
        assert text == step.turn.completion.text
        assert step.told is not None
        assert [tuple(span) for span in spans] == [
            (ELEMENTS[kind], start, end) for kind, (start, end) in step.told.spans if kind != "other"
        ]
    assert_quiet(browser)


def test_an_invented_observation_is_struck_out_on_the_screen(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path, page([open_run(ROOT / "transcripts" / "forged-observation.yaml")])))
    script = "return getComputedStyle(document.querySelector('.step del')).textDecorationLine"
    assert browser.run(script) == "line-through"


def test_a_column_of_the_strip_leads_to_its_step_and_says_what_it_took(recovered: Browser) -> None:
    told = recovered.run(
        "return [...document.querySelectorAll('.strip title')].map(each => each.textContent)"
    )
    assert told[1] == (
        "Step 2: 8.1 s · 843 tokens in, 800 of them cached · 27 out; prompt of 2,632 characters, 271 new"
    )
    widths = recovered.run("""
        return [...document.querySelectorAll('.strip a')].map(each => each.getBoundingClientRect().width)""")
    assert len(widths) == 3
    assert min(widths) > 20
    recovered.click(".strip a:nth-of-type(3)")
    assert recovered.run("return location.hash") == "#r1-3"
    assert_quiet(recovered)


@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out_from_its_ground_in_both_themes(browser: Browser, tmp_path: Path, theme: str) -> None:
    runs = [open_run(path) for path in SAVED]
    browser.open(written(tmp_path, page([*runs, made(hostile("Thought: a\nAction: b\x07"))])))
    feature = {"name": "prefers-color-scheme", "value": theme}
    browser.devtools("Emulation.setEmulatedMedia", features=[feature])
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(251, 250, 247)" if theme == "light" else "rgb(20, 23, 27)"
    )
    assert browser.run(CONTRAST) == []


def test_everything_that_can_be_used_has_a_name(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path, page([open_run(path) for path in SAVED])))
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    named: dict[str, list[str]] = {}
    for node in nodes:
        role = node["role"]["value"]
        if role in ("button", "link", "searchbox", "group", "region", "main", "heading", "article"):
            named.setdefault(role, []).append(node.get("name", {}).get("value", ""))
    assert set(named) >= {"button", "link", "searchbox", "region", "main", "heading", "article"}
    for role in ("button", "link", "searchbox", "region", "heading", "article"):
        assert all(named[role]), role
    assert len(named["main"]) == 1
    assert named["searchbox"] == ["Only runs with"]


def test_the_first_tab_shows_the_way_past_the_head(recovered: Browser) -> None:
    recovered.press(TAB)
    assert recovered.run("return document.activeElement.textContent") == "Skip to the run"
    assert recovered.run("return document.activeElement.getBoundingClientRect().left >= 0")


@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_sticks_out_at_the_side(recovered: Browser, width: int) -> None:
    recovered.devtools(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
    )
    recovered.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert recovered.run("return document.documentElement.scrollWidth") <= width
    recovered.devtools("Emulation.clearDeviceMetricsOverride")


# ---- what can be done


def test_keys_go_from_step_to_step(recovered: Browser) -> None:
    seen = []
    for key in "jjjjkk":
        recovered.press(key)
        seen.append(focused(recovered))
    assert seen == ["r1-1", "r1-2", "r1-3", "r1-3", "r1-2", "r1-1"]
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert recovered.run(outline) == "solid"
    assert_quiet(recovered)


def test_a_key_shows_the_whole_prompt_with_its_new_part_marked(recovered: Browser) -> None:
    run = open_run(ROOT / "transcripts" / "recovered.yaml").saved.transcript
    prompt = Prompt.load(run.dialect)
    for count in (2, 1, 0):  # the last one first: none depends on another having been open
        for _ in range(count + 1):
            recovered.press("j")
        assert focused(recovered) == f"r1-{count + 1}"
        recovered.press("p")
        script = """
            const details = document.activeElement.querySelector('details.prompt');
            return [details.open, details.querySelector('pre').textContent,
                    details.querySelector('mark').textContent];"""
        expected = "".join(p.text for p in prompt.render(run.question, run.specs, run.turns[:count]))
        wait_for(recovered, f"return (() => {{{script}}})()[1].length >= {len(expected)}")
        is_open, whole, new = recovered.run(script)
        assert is_open
        assert whole == expected
        assert whole.endswith(new)
        recovered.run("document.activeElement.blur()")
    assert_quiet(recovered)


def test_prompts_whose_beginning_changed_are_whole_as_well(browser: Browser, tmp_path: Path) -> None:
    saved = shortening_run()
    browser.open(written(tmp_path, page([run_of(saved, dumps(saved).encode(), "run.yaml")])))
    browser.run("[...document.querySelectorAll('details.prompt')].reverse().forEach(d => d.open = true)")
    wait_for(browser, "return document.querySelectorAll('details.prompt .kept').length === 8")
    texts = browser.run("return [...document.querySelectorAll('details.prompt pre')].map(p => p.textContent)")
    assert texts == ["".join(part.text for part in sent.parts) for sent in prompts_of(saved.transcript)]


def wait_for(browser: Browser, script: str, seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while not browser.run(script):
        assert time.monotonic() < until, script
        time.sleep(0.02)


def test_every_copy_button_copies_its_text(recovered: Browser) -> None:
    recovered.run("""
        window.copied = [];
        Object.defineProperty(navigator, 'clipboard',
          {value: {writeText: async text => { window.copied.push(text); }}});""")
    wanted = recovered.run("""
        document.querySelectorAll('details').forEach(each => each.open = true);
        document.querySelectorAll('.copy').forEach(button => button.click());
        const texts = document.querySelectorAll(':is(.result, .reply, .seen, .prompt > .box) > pre');
        return [...texts].map(pre => pre.textContent);""")
    wait_for(recovered, f"return window.copied.length === {len(wanted)}")
    assert recovered.run("return window.copied") == wanted
    assert len(wanted) == 1 + 3 + 2 + 3  # the answer, the replies, what was written back, the prompts
    labels = recovered.run("return [...document.querySelectorAll('.copy')].map(b => b.ariaLabel)")
    assert set(labels) == {f"Copy {what}" for what in (
        "the answer", "what the model wrote", "what was written back", "the prompt"
    )}  # fmt: skip


def test_copying_works_with_the_real_clipboard(recovered: Browser) -> None:
    recovered.devtools(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    recovered.click(".reply .copy")
    wait_for(recovered, "return document.querySelector('.reply .copy').textContent === 'Copied'")
    text = recovered.run("return navigator.clipboard.readText()")
    assert text == open_run(ROOT / "transcripts" / "recovered.yaml").steps[0].turn.completion.text


def test_the_run_can_be_saved_from_the_page(browser: Browser, tmp_path: Path) -> None:
    path = ROOT / "transcripts" / "chinese.yaml"
    browser.open(written(tmp_path, page([open_run(path)])))
    browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
    browser.click(".save a")
    target, until = tmp_path / "saved" / "chinese.yaml", time.monotonic() + 10
    while not target.exists() or not target.stat().st_size:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert target.read_bytes() == path.read_bytes()
    assert browser.log("browser") == []


def test_the_filter_leaves_the_runs_that_have_all_words(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path, page([open_run(path) for path in SAVED])))
    browser.click(".filter input")
    for key in "CHAIR qwen":
        browser.press(key)
    rows, runs, told = browser.run("""
        const visible = all => [...document.querySelectorAll(all)].filter(each => each.checkVisibility());
        return [visible('tbody tr').map(row => row.lastChild.textContent), visible('details.run').length,
                document.querySelector('output').textContent];""")
    assert (rows, runs, told) == (["own-tools.yaml"], 1, "1 shown")
    assert_quiet(browser)


def test_a_link_of_the_table_opens_its_run(browser: Browser, tmp_path: Path) -> None:
    browser.open(written(tmp_path, page([open_run(path) for path in SAVED])))
    browser.click("tbody tr:nth-child(3) a")
    wait_for(browser, "return document.getElementById('r3').open")
    assert browser.run("return document.getElementById('r2').open") is False
    browser.press("j")
    assert focused(browser) == "r3-1"


# ---- what must never happen


@pytest.mark.parametrize("payload", HOSTILE)
def test_s61_s62_s63_nothing_of_a_hostile_run_becomes_live(
    browser: Browser, tmp_path: Path, payload: str
) -> None:
    run = replace(made(hostile(payload)), name=payload.replace("\x00", ""))
    browser.open(written(tmp_path, page([run])))
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    for key in "jpk":
        browser.press(key)
    assert browser.run("return document.querySelector('h1').textContent") == visible(payload)
    alive = "script, style, img, iframe, object, embed, base, form, link, svg [onload], [onerror], math"
    found = browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.localName)", alive)
    assert sorted(found) == ["script", "style"]
    addresses = browser.run("return [...document.links].map(link => link.getAttribute('href'))")
    assert all(address.startswith(("#", "data:application/gzip;base64,")) for address in addresses)
    assert_quiet(browser)


def test_the_policy_stops_what_would_be_live(browser: Browser, tmp_path: Path) -> None:
    """A page into which markup was put by hand: even then nothing runs, and nothing is asked for."""
    with serving(status(200)) as server:
        evil = (
            f"<script>window.ran = 1</script><img src='{server.url}/leak' onerror='window.ran = 1'>"
            f"<link rel=stylesheet href='{server.url}/leak'><iframe src='{server.url}/leak'></iframe>"
        )
        text = page([open_run(SAVED[0])]).replace("</main>", f"{evil}</main>")
        browser.open(written(tmp_path, text))
        browser.run("fetch(arguments[0]).catch(() => null)", f"{server.url}/leak")
        time.sleep(0.3)
        assert browser.run("return window.ran === undefined")
        assert server.received == []
    assert browser.log("browser")  # the browser tells of each of them


def test_a_page_from_a_server_asks_for_nothing_else(browser: Browser, tmp_path: Path) -> None:
    text = page([open_run(SAVED[0])])
    with serving(raw(head(200, "text/html", len(text.encode())) + text.encode())) as server:
        browser.open(f"{server.url}/page.html")
        browser.press("j")
        assert focused(browser) == "r1-1"
        time.sleep(0.3)
        assert [request.path for request in server.received] == ["/page.html"]
    assert browser.log("browser") == []


def test_it_is_readable_without_javascript(tmp_path: Path) -> None:
    run = open_run(ROOT / "transcripts" / "recovered.yaml")
    path = written(tmp_path, page([run]))
    with chromium(tmp_path / "profile") as opened:
        opened.devtools("Emulation.setScriptExecutionDisabled", value=True)
        opened.open(path)
        for step in range(1, 4):
            opened.click(f"#r1-{step} summary")
        tree = opened.devtools("Accessibility.getFullAXTree")
        texts = [node["name"]["value"] for node in tree["nodes"] if node["role"]["value"] == "StaticText"]
        words = " ".join(texts)
        shot = opened.devtools("Page.captureScreenshot")
        assert shot["data"]
        assert_quiet_without_script(opened)
    for each in run.steps:
        for line in each.turn.completion.text.split("\n"):
            assert line.strip().split(":")[0] in words
        for observation in each.turn.observations:
            assert observation.text in words
    assert words.count("as in the prompt before, then new") == 2
    assert words.count("[written in the step before]") == 2
    assert words.count("[observed in the step before]") == 2
    assert "Keys:" not in words


def assert_quiet_without_script(browser: Browser) -> None:
    assert requests_of(browser) == []
    assert browser.log("browser") == []


# ---- how long it takes, how large it is


def test_a_run_of_200_turns_opens_in_under_a_second(browser: Browser, tmp_path: Path) -> None:
    """By the clock, of which other work on the machine takes its share; and by the processor time of the page."""
    saved = long_run(200)
    path = written(tmp_path, page([run_of(saved, dumps(saved).encode(), "long.yaml")]))
    browser.devtools("Performance.enable", timeDomain="threadTicks")
    times = [opened(browser, path)]
    while times[-1][0] >= 1000 and len(times) < 10:
        times.append(opened(browser, path))
    assert min(times)[0] < 1000, times
    assert min(used for _, used in times) < 0.5, times
    assert browser.run("return document.querySelectorAll('.step').length") == 200


def opened(browser: Browser, path: Path) -> tuple[float, float]:
    """Milliseconds until a page has loaded, and seconds of processor time."""
    browser.open(path)
    script = "return performance.getEntriesByType('navigation')[0].loadEventEnd"
    wait_for(browser, f"{script} > 0")
    metrics = browser.devtools("Performance.getMetrics")["metrics"]
    (used,) = [metric["value"] for metric in metrics if metric["name"] == "TaskDuration"]
    return browser.run(script), used


@needs_poppler
def test_on_paper_all_is_there_but_what_can_only_be_pressed(recovered: Browser, tmp_path: Path) -> None:
    recovered.run("document.querySelectorAll('details.prompt')[1].open = true")
    wait_for(recovered, "return document.querySelectorAll('details.prompt .kept').length === 1")
    pdf = tmp_path / "page.pdf"
    pdf.write_bytes(base64.b64decode(recovered.devtools("Page.printToPDF", preferCSSPageSize=True)["data"]))
    done = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True, check=True)
    words = re.sub(r"\s+", " ", done.stdout)
    for step in open_run(ROOT / "transcripts" / "recovered.yaml").steps:
        assert f"Step {step.number}" in words
        assert step.turn.completion.text.split("\n")[0].strip() in words
        for observation in step.turn.observations:
            assert observation.text[:40] in words
    assert "Copy" not in words
    assert "Keys:" not in words
    assert "Save " not in words
    assert words.count("Show the prompt") == 1
    assert "You answer questions step by step." in words
