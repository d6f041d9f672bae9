// The feed inbox and its entries: keep, mark as read, keyboard shortcuts. Every form also works without this script.
"use strict";

async function sendAction(form, button) {
  const address = form.getAttribute("action");
  await request(address, { method: "POST", body: formData(form, button), headers: csrfHeaders() });
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!("entry" in form.dataset) || !button) return;
  event.preventDefault();
  try {
    await sendAction(form, button);
    if ("stay" in form.dataset) showState(document.querySelector(".reading"), form, button);
    else showState(form.closest(".entry"), form, button);
  } catch (error) {
    showMessage(error.message);
  }
});

/** Show what became of an entry, without loading the page again. */
function showState(entry, form, button) {
  if (button.value === "keep") {
    button.disabled = true;
    entry.querySelector(".kept-flag")?.removeAttribute("hidden");
    markShown(entry, form, true);
    showMessage("Kept. The page is being saved.");
    return;
  }
  markShown(entry, form, button.value === "read");
}

function markShown(entry, form, read) {
  entry.classList.toggle("unseen", !read && entry.matches(".entry"));
  const toggle = form.querySelector('[data-key="m"]');
  toggle.value = read ? "unread" : "read";
  const label = toggle.querySelector(".label") ?? toggle;
  label.textContent = read ? "Mark as unread" : "Mark as read";
}

// An entry that is opened is read. A GET request changes nothing on the server, so that is reported separately.
const opened = document.querySelector(".reading[data-unread]");
if (opened) {
  const form = document.querySelector("form[data-entry]");
  const toggle = form.querySelector('[data-key="m"]');
  sendAction(form, toggle).then(() => markShown(opened, form, true), () => {});
}

const all = () => [...document.querySelectorAll(".entry")];
const chosen = () => document.querySelector(".entry.current");

function moveBy(step) {
  const entries = all();
  if (!entries.length) return;
  const at = entries.indexOf(chosen());
  const next = entries[at < 0 ? (step > 0 ? 0 : entries.length - 1) : Math.max(0, Math.min(entries.length - 1, at + step))];
  chosen()?.classList.remove("current");
  next.classList.add("current");
  next.querySelector("h2 a").focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function pressKey(key) {
  return () => {
    const where = all().length ? chosen() : document;
    (where?.querySelector(`[data-key="${key}"]`) ?? (key === "A" ? document.querySelector('[data-key="A"]') : null))?.click();
  };
}

document.addEventListener("focusin", (event) => {
  const entry = event.target.closest?.(".entry");
  if (!entry || entry === chosen()) return;
  chosen()?.classList.remove("current");
  entry.classList.add("current");
});

Object.assign(keys, {
  s: pressKey("s"),
  m: pressKey("m"),
  v: pressKey("v"),
  u: () => location.assign(all().length ? "/feeds" : "/feeds/inbox"),
  A: () => document.querySelector('[data-key="A"]')?.click(),
  ...(document.getElementById("entries")
    ? { j: () => moveBy(1), k: () => moveBy(-1), o: () => chosen()?.querySelector("h2 a").click() }
    : {}),
});

// Wide blocks can be scrolled with the keyboard.
for (const block of document.querySelectorAll(".content pre, .content .table, .content .formula")) block.tabIndex = 0;
