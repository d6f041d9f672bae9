// The list: found while one types, longer while one scrolls, worked through by keys.
"use strict";

const rows = document.getElementById("rows");
const find = document.getElementById("find");
const filters = document.querySelector(".filters");
let latest = 0;
let pause;

if (matchMedia("(max-width: 56rem)").matches) filters.open = ["quality", "domain", "tag"].some((name) => find.elements[name].value);

function address() {
  const wanted = new URLSearchParams();
  for (const [name, value] of new FormData(find)) {
    if (value && !(name === "state" && value === "inbox") && !(name === "order" && value === "saved")) wanted.append(name, value);
  }
  return wanted.size ? `/?${wanted}` : "/";
}

async function refresh() {
  const mine = ++latest;
  const wanted = address();
  const slow = setTimeout(() => rows.setAttribute("aria-busy", "true"), 250);
  try {
    const found = await part(wanted);
    if (mine !== latest) return;
    rows.replaceChildren(...found.childNodes);
    history.replaceState(null, "", wanted);
    document.querySelector(".heading h1").textContent = find.elements.q.value.trim() ? "Search" : document.querySelector(".states [aria-current] span").textContent;
    announce();
    follow();
    soFar();
  } catch (error) {
    tell(error.message);
  } finally {
    clearTimeout(slow);
    if (mine === latest) rows.removeAttribute("aria-busy");
  }
}

// How far one got in each page, which this browser knows.
function soFar() {
  for (const sign of rows.querySelectorAll(".read-so-far[hidden]")) {
    let read = 0;
    try {
      read = Number(localStorage.getItem(`pagekeep:place:${sign.dataset.place}`));
    } catch { /* the browser keeps nothing */ }
    if (!(read > 0)) continue;
    sign.textContent = `${Math.max(1, Math.round(read * 100))} % read`;
    sign.hidden = false;
  }
}

function announce() {
  const count = rows.querySelectorAll(".row").length;
  const more = rows.querySelector("[rel=next]") ? " or more" : "";
  const words = document.createElement("p");
  words.className = "visually-hidden";
  words.textContent = count ? `${count}${more} pages` : "Nothing found";
  if (!told.querySelector(".toast")) told.replaceChildren(words);
}

document.addEventListener("input", (event) => {
  if (event.target.form !== find) return;
  clearTimeout(pause);
  pause = setTimeout(refresh, 140);
});
find.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(pause);
  refresh();
});

// The next page comes before it is needed.
const near = new IntersectionObserver((seen) => {
  for (const entry of seen) if (entry.isIntersecting) longer(entry.target);
}, { rootMargin: "900px" });

function follow() {
  near.disconnect();
  const more = rows.querySelector("[rel=next]");
  if (more) near.observe(more);
}

async function longer(link) {
  near.unobserve(link);
  const mine = latest;
  try {
    const found = await part(link.href);
    if (mine !== latest) return;
    link.closest(".more").remove();
    rows.querySelector(".rows").append(...found.querySelectorAll(".row"));
    const more = found.querySelector(".more");
    if (more) rows.append(more);
    follow();
    soFar();
  } catch (error) {
    tell(error.message);
  }
}
follow();
soFar();

// What was done leaves the list, or changes in it.
const LEAVES = { inbox: ["archive", "delete"], pinned: ["unpin", "delete"], archive: ["unarchive", "delete"], all: ["delete"], trash: ["restore"] };

document.addEventListener("pagekeep:done", ({ detail }) => {
  const state = find.elements.state.value;
  const gone = LEAVES[state].includes(detail.action) && !("undo" in detail.form.dataset);
  if (!gone) {
    refresh();
    return;
  }
  for (const id of detail.ids) {
    const row = document.getElementById(`item-${id}`);
    if (!row) continue;
    if (row === current()) move(row.nextElementSibling ? 1 : -1);
    row.classList.add("leaving");
    setTimeout(() => {
      row.remove();
      if (!rows.querySelector(".row")) refresh();
    }, 180);
  }
});

let saved;
document.addEventListener("pagekeep:saved", () => {
  clearTimeout(saved);
  saved = setTimeout(refresh, 300);
});

// Selecting.
document.addEventListener("change", (event) => {
  if (!event.target.matches(".pick input")) return;
  const count = rows.querySelectorAll(".pick :checked").length;
  document.querySelector(".picked").textContent = `${count} selected`;
});

// Keys.
function current() {
  return rows.querySelector(".row.current");
}

function move(by) {
  const all = [...rows.querySelectorAll(".row:not(.leaving)")];
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  current()?.classList.remove("current");
  next.classList.add("current");
  next.querySelector("h2 a").focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function press(key) {
  return () => current()?.querySelector(`.actions [data-key="${CSS.escape(key)}"]`)?.click();
}

Object.assign(keys, {
  j: () => move(1),
  k: () => move(-1),
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
