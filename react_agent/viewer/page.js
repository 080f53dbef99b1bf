"use strict";
(() => {
  const page = document;
  page.documentElement.classList.add("js");

  // Of a prompt there is only what is new in it.
  for (const text of page.querySelectorAll(".prompt > pre")) {
    const box = page.createElement("div"), mark = page.createElement("mark");
    box.className = "box";
    mark.append(...text.childNodes);
    text.before(box);
    text.append(mark);
    box.append(text);
  }
  // A part that is empty stands as a reply or an observation, mostly in the step before.
  const textOf = (part, step) => {
    const {step: number, nth = 0, end} = part.dataset;
    const from = number ? page.getElementById(step.id.replace(/\d+$/, number)) : step.previousElementSibling;
    const boxes = from.querySelectorAll(part.matches(".model") ? ".reply > pre" : ".seen > pre");
    return (boxes[nth]?.textContent ?? "").slice(0, end);
  };
  const partsOf = prompt => {
    for (const part of prompt.querySelectorAll("mark :is(.model, .tool):empty")) {
      part.textContent = textOf(part, prompt.closest(".step"));
    }
    return [...prompt.querySelectorAll("mark > *")];
  };
  // Before it comes the prompt of the step before, or as many parts of that as were kept.
  const assemble = details => {
    if (details.dataset.whole) return;
    details.dataset.whole = "yes";
    let parts = [];
    for (const each of details.closest(".run").querySelectorAll(".prompt")) {
      const own = partsOf(each);
      parts = parts.slice(0, each.dataset.kept);
      if (each === details) break;
      parts = parts.concat(own);
    }
    if (!parts.length) return;
    const before = page.createElement("span");
    before.className = "kept";
    before.append(...parts.map(part => part.cloneNode(true)));
    details.querySelector("mark").before(before);
  };
  page.addEventListener("toggle", event => {
    if (event.target.matches("details.prompt") && event.target.open) {
      assemble(event.target);
      const mark = event.target.querySelector("mark"), text = event.target.querySelector("pre");
      if (mark.previousSibling) text.scrollTop = mark.offsetTop - text.clientHeight / 2;
    }
  }, true);

  for (const step of page.querySelectorAll(".step")) {
    step.tabIndex = -1;
    const title = step.querySelector("header > :first-child"), link = page.createElement("a");
    step.ariaLabel = title.textContent;
    link.href = "#" + step.id;
    link.append(...title.childNodes);
    title.append(link);
  }

  // Each column of the strip leads to its step, and says what that took.
  const drawn = (name, attributes) => {
    const element = page.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  for (const bars of page.querySelectorAll(".strip g")) {
    bars.closest(".run").querySelectorAll(".step").forEach((step, column) => {
      const link = drawn("a", {href: "#" + step.id, tabindex: -1}), title = drawn("title", {});
      const told = [...step.querySelectorAll("header small, .prompt small")].map(small => small.textContent);
      title.textContent = step.ariaLabel + ": " + told.join("; prompt of ");
      link.append(title, drawn("rect", {x: column - .5, width: 1, height: "100%"}));
      bars.append(link);
    });
  }

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
