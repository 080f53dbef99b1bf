"use strict";
(() => {
  const page = document;
  page.documentElement.classList.add("js");

  // The prompt of a step: so many parts of the one before it, then its own.
  const assemble = details => {
    const kept = Number(details.dataset.kept);
    if (!kept || details.dataset.whole) return;
    details.dataset.whole = "yes";
    const run = details.closest(".run");
    let parts = [];
    for (const each of run.querySelectorAll("details.prompt")) {
      if (each === details) break;
      parts = parts.slice(0, Number(each.dataset.kept)).concat([...each.querySelectorAll("mark > *")]);
    }
    const before = page.createElement("span");
    before.className = "kept";
    before.append(...parts.slice(0, kept).map(part => part.cloneNode(true)));
    details.querySelector("mark").before(before);
  };
  page.addEventListener("toggle", event => {
    if (event.target.matches("details.prompt") && event.target.open) {
      assemble(event.target);
      const mark = event.target.querySelector("mark");
      const text = event.target.querySelector("pre");
      if (event.target.dataset.whole) text.scrollTop = mark.offsetTop - text.clientHeight / 2;
    }
  }, true);

  const copied = async (button, text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = page.createElement("textarea");
      area.value = text;
      page.body.append(area);
      area.select();
      page.execCommand("copy");
      area.remove();
    }
    button.textContent = "Copied";
    button.classList.add("done");
    setTimeout(() => { button.textContent = "Copy"; button.classList.remove("done"); }, 1500);
  };
  const copies = {
    ".result": "the answer",
    ".reply": "what the model wrote",
    ".seen": "what was written back",
    ".prompt > .box": "the prompt",
  };
  for (const box of page.querySelectorAll(Object.keys(copies).join())) {
    if (!box.querySelector("pre")) continue;
    const button = page.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy " + copies[Object.keys(copies).find(kind => box.matches(kind))]);
    button.addEventListener("click", () => copied(button, box.querySelector("pre").textContent));
    box.append(button);
  }

  for (const step of page.querySelectorAll(".step")) step.tabIndex = -1;
  const shown = () => [...page.querySelectorAll(".step")].filter(step => step.checkVisibility());
  const go = by => {
    const steps = shown();
    const here = steps.indexOf(page.activeElement.closest(".step"));
    const to = steps[here < 0 ? (by > 0 ? 0 : steps.length - 1) : here + by];
    if (to) { to.focus({preventScroll: true}); to.scrollIntoView({block: "start"}); }
  };
  const keys = {
    j: () => go(1),
    k: () => go(-1),
    p: () => {
      const prompt = page.activeElement.closest(".step")?.querySelector("details.prompt");
      if (prompt) prompt.open = !prompt.open;
    },
  };
  page.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input")) return;
    keys[event.key]?.();
  });

  // The run is in the page with gzip; where the browser can, it is saved without.
  for (const link of page.querySelectorAll("a[download]")) {
    link.addEventListener("click", async event => {
      if (typeof DecompressionStream === "undefined") return;
      event.preventDefault();
      const bytes = Uint8Array.from(atob(link.getAttribute("href").split(",")[1]), c => c.charCodeAt(0));
      const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      const address = URL.createObjectURL(await new Response(plain).blob());
      Object.assign(page.createElement("a"), {href: address, download: link.download.slice(0, -3)}).click();
      setTimeout(() => URL.revokeObjectURL(address), 60000);
    });
  }

  const open = () => {
    const target = location.hash && page.getElementById(location.hash.slice(1));
    const run = target && target.closest("details.run");
    if (run) { run.open = true; target.scrollIntoView(); }
  };
  addEventListener("hashchange", open);
  open();

  const box = page.querySelector(".filter input");
  if (box) box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of page.querySelectorAll("tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
      page.getElementById(row.dataset.run).hidden = row.hidden;
      count += !row.hidden;
    }
    page.querySelector(".filter output").textContent = count + " shown";
  });
})();
