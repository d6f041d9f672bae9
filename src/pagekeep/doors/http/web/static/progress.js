// How far the article was read: goes on at the place where the last device was, and reports this one's place.
// Uses `article` and `id` of item.js.
"use strict";

const TOP = 72; // pixels that the header covers
const END = 0.98; // as on the server
const QUIET_MS = 800; // no scrolling for as long: the place is reported
const MIN_GAP_MS = 3_000; // between two reports
const SHORT_PAGE_MS = 5_000; // a text that fits into the window counts as read after this time
const TEXT_BLOCKS = "p, li, h2, h3, h4, h5, h6, pre, td, th, .formula, figure";

const textBox = document.getElementById("content");
const textBlocks = [...textBox.querySelectorAll(TEXT_BLOCKS)].filter((block) => !block.querySelector(TEXT_BLOCKS) && block.textContent.trim());
const within = (part) => Math.max(0, Math.min(1, part || 0));

/** Return the number of the block at the top of the window, how much of it was passed, and how much of the text. */
function currentPlace() {
  let low = 0;
  let high = Math.max(0, textBlocks.length - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (textBlocks[middle].getBoundingClientRect().bottom > TOP) high = middle;
    else low = middle + 1;
  }
  const box = textBlocks[low]?.getBoundingClientRect();
  const whole = textBox.getBoundingClientRect();
  return {
    block: low,
    offset: box ? within((TOP - box.top) / box.height).toFixed(4) : 0,
    progress: within((innerHeight - whole.top) / whole.height).toFixed(4),
  };
}

// Only what the reader does counts: a link to a heading or a highlight scrolls too, and must not move the place.
let hasMoved = false;
for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(kind, () => { hasMoved = true; }, { passive: true, once: true });

let isDirty = false;
let reportTimer;
let lastReport = 0;

function reportPlace(leaving = false) {
  clearTimeout(reportTimer);
  isDirty = false;
  lastReport = Date.now();
  const place = { ...currentPlace(), at: new Date().toISOString() };
  sendPlace(id, place, leaving);
  if (place.progress >= END && !("chosen" in article.dataset)) showState("read");
}

addEventListener("scroll", () => {
  if (!hasMoved || !("readable" in article.dataset)) return;
  isDirty = true;
  clearTimeout(reportTimer);
  reportTimer = setTimeout(reportPlace, Math.max(QUIET_MS, lastReport + MIN_GAP_MS - Date.now()));
}, { passive: true });
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden" && isDirty) reportPlace(true);
});
addEventListener("pagehide", () => {
  if (isDirty) reportPlace(true);
});

addEventListener("load", () => {
  const { progress, block, offset, readAt } = article.dataset;
  const unsent = unsentPlaces()[id];
  const place = unsent && unsent.at > readAt ? unsent : { progress, block, offset };
  const isFresh = !location.hash && performance.getEntriesByType("navigation")[0]?.type === "navigate";
  const target = textBlocks[Number(place.block)];
  if (isFresh && target && place.progress > 0 && place.progress < END) {
    const box = target.getBoundingClientRect();
    const top = box.top + scrollY + box.height * Number(place.offset) - TOP;
    if (top > TOP) scrollTo({ top, behavior: "instant" });
  }
  if ("readable" in article.dataset && textBox.getBoundingClientRect().bottom <= innerHeight) {
    setTimeout(() => { if (document.visibilityState === "visible") reportPlace(); }, SHORT_PAGE_MS);
  }
});

// Mark as read, mark as unread.

function showState(state) {
  article.dataset.state = state;
  const label = state === "read" ? "Mark as unread" : "Mark as read";
  for (const button of document.querySelectorAll("form[data-reading] button")) {
    button.value = state === "read" ? "unread" : "read";
    button.title = `${label} (r)`;
    button.classList.toggle("on", state === "read");
    button.querySelector(".label").textContent = label;
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!("reading" in form.dataset)) return;
  event.preventDefault();
  const state = event.submitter.value;
  try {
    await request(form.getAttribute("action"), { method: "POST", body: formData(form, event.submitter), headers: csrfHeaders() });
    article.dataset.chosen = "";
    showState(state);
    showMessage(state === "read" ? "Marked as read." : "Marked as unread.");
  } catch (error) {
    showMessage(error.message);
  }
});
