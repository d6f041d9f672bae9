// The article page: marks it as opened, shows how much was read and similar pages, copies code and Markdown.
"use strict";

const article = document.querySelector(".reading");
const id = article.dataset.id;

// A GET request changes nothing on the server, so the opening is reported separately.
const opened = new FormData();
opened.set("action", "opened");
opened.set("ids", id);
fetch("/items", { method: "POST", body: opened, headers: { "X-Part": "1", ...csrfHeaders() } }).catch(() => {});

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    showMessage("Copied.");
  } catch {
    showMessage("Your browser does not allow copying here.");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      copyText(await (await request(button.dataset.copy)).text());
    } catch (error) {
      showMessage(error.message);
    }
  });
}

for (const block of document.querySelectorAll(".content pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => copyText(block.querySelector("code").textContent));
  block.tabIndex = 0; // so that long lines can be scrolled with the keyboard
  block.append(button);
}
for (const wide of document.querySelectorAll(".content .table, .content .formula")) if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;

// How much was read, as a line at the top.
const progress = document.querySelector(".progress");
function readFraction() {
  const room = document.documentElement.scrollHeight - innerHeight;
  return room > 0 ? scrollY / room : 0;
}
if (!CSS.supports("animation-timeline: scroll()")) {
  addEventListener("scroll", () => progress.style.setProperty("--read", readFraction()), { passive: true });
}

// Similar pages are looked up when the end of the article comes near.
const similar = document.querySelector("[data-similar]");
if (similar) {
  new IntersectionObserver(async (changes, observer) => {
    if (!changes.some((change) => change.isIntersecting)) return;
    observer.disconnect();
    try {
      const part = await fetchPart(similar.dataset.similar);
      similar.hidden = !part.querySelector("li");
      similar.append(...part.childNodes);
      similar.classList.add("loaded");
    } catch { /* the heading is a link to the same list */ }
  }, { rootMargin: "0px 0px 800px" }).observe(similar);
}

const entries = new Map([...document.querySelectorAll(".toc.wide a:not(.page)")].map((link) => [link.hash.slice(1), link]));
if (entries.size) {
  const seen = new IntersectionObserver((changes) => {
    for (const change of changes) {
      if (!change.isIntersecting) continue;
      for (const link of entries.values()) link.removeAttribute("aria-current");
      entries.get(change.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  for (const name of entries.keys()) {
    const heading = document.getElementById(name);
    if (heading) seen.observe(heading);
  }
}

document.addEventListener("pagekeep:done", ({ detail }) => {
  if (["delete", "archive"].includes(detail.action) && !("undo" in detail.form.dataset)) {
    const list = document.querySelector(".back-link").getAttribute("href");
    location.assign(`${list}${list.includes("?") ? "&" : "?"}${new URLSearchParams({ acted: detail.acted })}`);
  } else location.reload();
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!("tags" in form.dataset)) return;
  event.preventDefault();
  try {
    const tags = await fetchPart(form.getAttribute("action"), { method: "POST", body: formData(form, event.submitter), headers: csrfHeaders() });
    document.getElementById("tags").replaceChildren(...tags.childNodes);
    if (form.elements.add) form.reset();
  } catch (error) {
    showMessage(error.message);
  }
});

function press(key) {
  return () => document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
}
Object.assign(keys, {
  p: press("p"),
  e: press("e"),
  "#": press("#"),
  u: press("u"),
  v: press("v"),
  m: press("m"),
  r: press("r"),
  "[": press("["),
  "]": press("]"),
  "+": () => appearance.step("size", 1),
  "=": () => appearance.step("size", 1),
  "-": () => appearance.step("size", -1),
  w: () => appearance.step("width", 1, true),
});
