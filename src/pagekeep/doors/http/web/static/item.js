// A page that is read: noted as opened, kept in place, its code and Markdown copied by a click.
"use strict";

const article = document.querySelector(".reading");
const id = article.dataset.id;

// Following a link changes nothing on the server; having read does.
const opened = new FormData();
opened.set("action", "opened");
opened.set("ids", id);
fetch("/items", { method: "POST", body: opened, headers: { "X-Part": "1", ...csrf() } }).catch(() => {});

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied.");
  } catch {
    tell("The browser does not allow copying here.");
  }
}

for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      copy(await (await ask(button.dataset.copies)).text());
    } catch (error) {
      tell(error.message);
    }
  });
}

for (const block of document.querySelectorAll(".content pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => copy(block.querySelector("code").textContent));
  block.tabIndex = 0; // long lines are scrolled by keys too
  block.append(button);
}
for (const wide of document.querySelectorAll(".content .table, .content .formula")) if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;

// Where one is.
const progress = document.querySelector(".progress");
function share() {
  const room = document.documentElement.scrollHeight - innerHeight;
  return room > 0 ? scrollY / room : 0;
}
if (!CSS.supports("animation-timeline: scroll()")) {
  addEventListener("scroll", () => progress.style.setProperty("--read", share()), { passive: true });
}

const place = `pagekeep:place:${id}`;
let noting;
addEventListener("scroll", () => {
  clearTimeout(noting);
  noting = setTimeout(() => {
    const read = share();
    try {
      if (read > 0.02 && read < 0.98) localStorage.setItem(place, read.toFixed(4));
      else localStorage.removeItem(place);
    } catch { /* the browser keeps nothing: then one begins at the top */ }
  }, 400);
}, { passive: true });
addEventListener("load", () => {
  try {
    const kept = Number(localStorage.getItem(place));
    const fresh = !location.hash && performance.getEntriesByType("navigation")[0]?.type === "navigate";
    if (kept && fresh) scrollTo({ top: kept * (document.documentElement.scrollHeight - innerHeight), behavior: "instant" });
  } catch { /* as above */ }
});

const entries = new Map([...document.querySelectorAll(".toc.wide a")].map((link) => [link.hash.slice(1), link]));
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
    location.assign(`/?${new URLSearchParams({ did: detail.action, ids: id })}`);
  } else location.reload();
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!("tags" in form.dataset)) return;
  event.preventDefault();
  try {
    const shown = await part(form.getAttribute("action"), { method: "POST", body: filled(form, event.submitter), headers: csrf() });
    document.getElementById("tags").replaceChildren(...shown.childNodes);
    if (form.elements.add) form.reset();
  } catch (error) {
    tell(error.message);
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
  "+": () => look.step("size", 1),
  "=": () => look.step("size", 1),
  "-": () => look.step("size", -1),
  w: () => look.step("width", 1, true),
});
