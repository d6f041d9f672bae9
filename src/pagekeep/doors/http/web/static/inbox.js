// The list: search while typing, load more while scrolling, keyboard shortcuts.
"use strict";

const rows = document.getElementById("rows");
const find = document.getElementById("find");
const filters = document.querySelector(".filters");
let latest = 0;
let typingTimer;

if (matchMedia("(max-width: 56rem)").matches) filters.open = ["quality", "domain", "tag"].some((name) => find.elements[name].value);
filters.classList.add("ready");

function listUrl() {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(find)) {
    if (value && !(name === "state" && value === "inbox") && !(name === "order" && value === "saved")) query.append(name, value);
  }
  return query.size ? `/?${query}` : "/";
}

async function refresh() {
  const number = ++latest;
  const url = listUrl();
  const slow = setTimeout(() => rows.setAttribute("aria-busy", "true"), 250);
  try {
    const nodes = await fetchPart(url);
    if (number !== latest) return;
    rows.replaceChildren(...nodes.childNodes);
    history.replaceState(null, "", url);
    markSearch(find.elements.q.value.trim() !== "");
    announceCount();
    observeNextLink();
  } catch (error) {
    showMessage(error.message);
  } finally {
    clearTimeout(slow);
    if (number === latest) rows.removeAttribute("aria-busy");
  }
}

// In the sidebar, Search is the current line while searching, otherwise the list that is searched.
function markSearch(searching) {
  const state = find.elements.state.value;
  const line = document.querySelector(`.states a[href="${state === "inbox" ? "/" : `/?state=${state}`}"]`);
  const search = document.querySelector(".to-search");
  for (const [each, on] of [[line, !searching], [search, searching]]) {
    if (on) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  document.querySelector(".heading h1").textContent = (searching ? search : line).querySelector(".name").textContent;
}

function announceCount() {
  const count = rows.querySelectorAll(".row").length;
  const more = rows.querySelector("[rel=next]") ? " or more" : "";
  const words = document.createElement("p");
  words.className = "visually-hidden";
  words.textContent = count ? `${count}${more} pages` : "No results";
  if (!messages.querySelector(".toast")) messages.replaceChildren(words);
}

function isName(field) {
  return field.name === "tag" || field.name === "domain";
}

document.addEventListener("input", (event) => {
  if (event.target.form !== find) return;
  if (isName(event.target) && event.isTrusted) return; // a name that is being typed is not one yet
  clearTimeout(typingTimer);
  typingTimer = setTimeout(refresh, 140);
});
document.addEventListener("change", (event) => {
  if (event.target.form === find && isName(event.target)) refresh();
});
find.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typingTimer);
  refresh();
});

// Load the next rows before the end of the list is visible.
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) loadMore(entry.target);
}, { rootMargin: "900px" });

function observeNextLink() {
  observer.disconnect();
  const more = rows.querySelector("[rel=next]");
  if (more) observer.observe(more);
}

async function loadMore(link) {
  observer.unobserve(link);
  const number = latest;
  try {
    const nodes = await fetchPart(link.href);
    if (number !== latest) return;
    link.closest(".more").remove();
    rows.querySelector(".rows").append(...nodes.querySelectorAll(".row"));
    const more = nodes.querySelector(".more");
    if (more) rows.append(more);
    observeNextLink();
  } catch (error) {
    showMessage(error.message);
  }
}
observeNextLink();

// Actions that remove an item from the list it is in.
const REMOVES = { inbox: ["archive", "delete"], unread: ["archive", "delete"], reading: ["delete"], read: ["delete"], pinned: ["unpin", "delete"], archive: ["unarchive", "delete"], all: ["delete"], trash: ["restore"] };

document.addEventListener("pagekeep:done", ({ detail }) => {
  const state = find.elements.state.value;
  const removed = REMOVES[state].includes(detail.action) && !("undo" in detail.form.dataset);
  if (!removed) {
    refresh();
    return;
  }
  for (const id of detail.ids) {
    const row = document.getElementById(`item-${id}`);
    if (!row) continue;
    if (row === current()) moveBy(row.nextElementSibling ? 1 : -1);
    row.classList.add("leaving");
    setTimeout(() => {
      row.remove();
      if (!rows.querySelector(".row")) refresh();
    }, 180);
  }
});

let refreshTimer;
document.addEventListener("pagekeep:saved", () => {
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(refresh, 300);
});

// Selection.
document.addEventListener("change", (event) => {
  if (!event.target.matches(".pick input")) return;
  const count = rows.querySelectorAll(".pick :checked").length;
  document.querySelector(".selected-count").textContent = `${count} selected`;
});

// Keyboard shortcuts.
function current() {
  return rows.querySelector(".row.current");
}

function moveBy(step) {
  const all = [...rows.querySelectorAll(".row:not(.leaving)")];
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + step))];
  current()?.classList.remove("current");
  next.classList.add("current");
  next.querySelector("h2 a").focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function press(key) {
  return () => current()?.querySelector(`.actions [data-key="${CSS.escape(key)}"]`)?.click();
}

Object.assign(keys, {
  j: () => moveBy(1),
  k: () => moveBy(-1),
  o: () => current()?.querySelector("h2 a").click(),
  x: () => current()?.querySelector(".pick input").click(),
  p: press("p"),
  e: press("e"),
  "#": press("#"),
});
rows.addEventListener("focusin", (event) => {
  const row = event.target.closest(".row");
  if (!row || row === current()) return;
  current()?.classList.remove("current");
  if (event.target.matches(":focus-visible")) row.classList.add("current");
});
