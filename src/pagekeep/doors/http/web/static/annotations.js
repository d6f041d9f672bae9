// Highlights and notes: finds them in the text by their words, adds them with the pointer or the keyboard, edits them in place.
// The list and its forms come from the server and work without this script.
"use strict";

const content = document.getElementById("content");
const list = document.getElementById("annotation-list");
const toolbar = document.getElementById("selection-toolbar");
const dialog = document.getElementById("annotation-dialog");
const NOT_TEXT = "button, math, .footnote-ref, .footnotes .back";
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const CONTEXT = [60, 240, 960]; // characters stored around a quote: more where fewer do not make it unique
const EDGE_LETTERS = 24; // letters at both ends that must match to find a quote that changed in the middle
const MAX_MATCHES = 500;
const MAX_QUOTE = 9_000; // characters; the server accepts 10,000

// Quotes are compared by letters and digits only: quotation marks, dashes, spaces and emphasis differ between programs and
// between two extractions of a page.

/** Return the text as one string, its text nodes, and its letters with their positions. */
function indexText() {
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest(NOT_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const nodes = [];
  let raw = "";
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, start: raw.length });
    raw += walker.currentNode.data;
  }
  return { nodes, raw, ...splitLetters(raw) };
}

function splitLetters(raw) {
  const positions = new Uint32Array(raw.length);
  const parts = [];
  let size = 0;
  for (const { 0: word, index } of raw.matchAll(WORDS)) {
    parts.push(word);
    for (let at = 0; at < word.length; at += 1) positions[size++] = index + at;
  }
  return { letters: parts.join(""), positions };
}

const lettersOf = (text) => splitLetters(text).letters;
const toOneLine = (text) => text.replace(/\s+/gu, " ").trim();

function* occurrences(text, needle) {
  let count = 0;
  for (let at = text.indexOf(needle); at >= 0 && count < MAX_MATCHES; at = text.indexOf(needle, at + 1), count += 1) yield at;
}

/** Find a quote in the text; return its range in the raw text, or null. */
function findQuote({ quote, before, after }, text) {
  const letters = lettersOf(quote);
  if (!letters) return null;
  const [from, to] = findExact(letters, lettersOf(before), lettersOf(after), text.letters) ?? findLoose(letters, text.letters) ?? [];
  return from === undefined ? null : includePunctuation(text.positions[from], text.positions[to - 1] + 1, quote, text.raw);
}

function findExact(quote, before, after, letters) {
  let best = null;
  for (const at of occurrences(letters, quote)) {
    const score = countMatching(letters, at - 1, before, -1) + countMatching(letters, at + quote.length, after, 1);
    if (!best || score > best.score) best = { at, score };
  }
  return best && [best.at, best.at + quote.length];
}

/** Count the letters that match, from a position in one direction. */
function countMatching(letters, at, around, step) {
  let same = 0;
  let other = step > 0 ? 0 : around.length - 1;
  while (other >= 0 && other < around.length && letters[at] === around[other]) {
    same += 1;
    at += step;
    other += step;
  }
  return same;
}

function findLoose(quote, letters) {
  if (quote.length < 2 * EDGE_LETTERS) return null;
  const from = letters.indexOf(quote.slice(0, EDGE_LETTERS));
  const last = from < 0 ? -1 : letters.indexOf(quote.slice(-EDGE_LETTERS), from + EDGE_LETTERS);
  return last < 0 || last - from > 2 * quote.length ? null : [from, last + EDGE_LETTERS];
}

/** Extend the range by the punctuation at the ends of the quote. */
function includePunctuation(from, to, quote, raw) {
  const words = [...quote.matchAll(WORDS)];
  const first = quote.slice(0, words[0].index).trim();
  const last = quote.slice(words.at(-1).index + words.at(-1)[0].length).trim();
  while (from > 0 && first.includes(raw[from - 1])) from -= 1;
  while (to < raw.length && last.includes(raw[to])) to += 1;
  return { from, to };
}

// Highlights in the text.

const entries = () => [...list.querySelectorAll(".annotation")];

function drawHighlights() {
  for (const old of content.querySelectorAll("mark.highlight")) {
    const parent = old.parentNode;
    old.replaceWith(...old.childNodes);
    parent.normalize();
  }
  const all = entries().filter((entry) => entry.dataset.quote);
  if (!all.length) return;
  const text = indexText();
  const spans = [];
  for (const entry of all) {
    const span = findQuote(entry.dataset, text);
    entry.querySelector(".not-found").hidden = Boolean(span);
    if (span) spans.push({ ...span, entry });
  }
  for (const { node, start } of text.nodes) wrap(node, start, spans.filter(({ from, to }) => from < start + node.data.length && to > start));
  sortEntries(spans);
  for (const { entry } of spans) linkToText(entry);
}

/** Split a text node where highlights begin and end; where several overlap, the newest is on top. */
function wrap(node, start, spans) {
  const end = start + node.data.length;
  const cuts = [...new Set(spans.flatMap(({ from, to }) => [Math.max(from, start), Math.min(to, end)]))].sort((a, b) => b - a);
  for (let number = 1; number < cuts.length; number += 1) {
    const [to, from] = [cuts[number - 1], cuts[number]];
    const top = spans.findLast((span) => span.from <= from && span.to >= to);
    if (!top || !node.data.slice(from - start, to - start).trim()) continue;
    const piece = node.splitText(from - start);
    piece.splitText(to - from);
    const mark = document.createElement("mark");
    mark.className = `highlight ${top.entry.dataset.colour}${top.entry.dataset.note ? " with-note" : ""}`;
    mark.dataset.annotation = top.entry.dataset.id;
    piece.replaceWith(mark);
    mark.append(piece);
  }
}

/** Sort the list: notes on the whole page, then highlights in text order, then those that were not found. */
function sortEntries(spans) {
  const positions = new Map(spans.map(({ entry, from }) => [entry, from]));
  const position = (entry) => (entry.dataset.quote ? (positions.get(entry) ?? Infinity) : -1);
  const all = entries();
  const sorted = [...all].sort((one, other) => position(one) - position(other) || all.indexOf(one) - all.indexOf(other));
  list.querySelector("ol").append(...sorted);
}

const findMark = (id) => content.querySelector(`mark[data-annotation="${CSS.escape(id)}"]`);

/** Make the quote in the list a button that scrolls to its place in the text. */
function linkToText(entry) {
  const quote = entry.querySelector("blockquote");
  const link = document.createElement("button");
  link.type = "button";
  link.className = "show-in-text";
  link.title = "Show in text";
  link.append(...quote.childNodes);
  link.addEventListener("click", () => {
    const mark = findMark(entry.dataset.id);
    if (!mark) return;
    mark.scrollIntoView({ block: "center" });
    mark.tabIndex = -1;
    mark.focus({ preventScroll: true });
  });
  quote.append(link);
}

// Requests to the server.

async function send(address, data) {
  const nodes = await fetchPart(address, { method: "POST", body: data, headers: csrfHeaders() });
  list.replaceChildren(...nodes.childNodes);
  drawHighlights();
}

const ADD_URL = dialog.querySelector("form").getAttribute("action");
const toFormData = (values) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.set(name, value);
  return data;
};

async function addAnnotation(values, message) {
  try {
    await send(ADD_URL, toFormData(values));
    showMessage(message);
  } catch (error) {
    showMessage(error.message);
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!("annotations" in form.dataset)) return;
  event.preventDefault();
  const entry = document.getElementById(`annotation-${form.getAttribute("action").split("/").pop()}`);
  const deleted = event.submitter?.value === "delete" && entry ? { ...entry.dataset } : null;
  try {
    await send(form.getAttribute("action"), formData(form, event.submitter));
    if (dialog.open) dialog.close();
    if (!form.closest("dialog, li")) {
      form.reset();
      form.closest("details").open = false;
    }
    if (deleted) showUndo("Deleted.", () => addAnnotation(pickFields(deleted), "Restored."));
    else showMessage("Saved.");
  } catch (error) {
    showMessage(error.message);
  }
});

const pickFields = ({ quote, before, after, note, colour }) => ({ quote, before, after, note, colour });

function showUndo(text, undo) {
  showMessage(text);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Undo";
  button.addEventListener("click", () => {
    messages.replaceChildren();
    undo();
  });
  const holder = document.createElement("div");
  holder.dataset.undo = "";
  holder.append(button);
  messages.querySelector(".toast").append(holder);
}

// The selection, made with the pointer or the keyboard.

/** Return the selection as a quote with context; the current paragraph if nothing is selected. */
function selectedQuote() {
  const selection = getSelection();
  const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : rangeOf(content.querySelector(".at"));
  if (!range || !range.intersectsNode(content)) return null;
  const text = indexText();
  const span = spanOf(range, text);
  return span && quoteOf(span, text);
}

function rangeOf(block) {
  if (!block || document.activeElement !== block) return null;
  const range = document.createRange();
  range.selectNodeContents(block);
  return range;
}

function spanOf(range, { nodes }) {
  let from = null;
  let to = null;
  for (const { node, start } of nodes) {
    if (!range.intersectsNode(node)) continue;
    const first = node === range.startContainer ? range.startOffset : 0;
    const last = node === range.endContainer ? range.endOffset : node.data.length;
    if (last <= first) continue;
    from ??= start + first;
    to = start + last;
  }
  return from === null ? null : { from, to };
}

/** Return the quote at a range, with as much context as makes it unique. */
function quoteOf({ from, to }, text) {
  const quote = toOneLine(text.raw.slice(from, to)).slice(0, MAX_QUOTE);
  if (!lettersOf(quote)) return null;
  for (const size of CONTEXT) {
    const before = toOneLine(text.raw.slice(Math.max(0, from - size), from));
    const after = toOneLine(text.raw.slice(to, to + size));
    const matches = [...occurrences(text.letters, lettersOf(before + quote + after))];
    if (matches.length < 2 || size === CONTEXT.at(-1)) return { quote, before, after };
  }
  return null;
}

function highlight(kind) {
  const values = selectedQuote();
  if (!values) {
    showMessage("Select some text first, or go to a paragraph with j.");
    return;
  }
  hideToolbar();
  getSelection().removeAllRanges();
  if (kind === "plain") addAnnotation({ ...values, colour: "yellow" }, "Highlighted.");
  else openDialog(values);
}

function openDialog({ id, quote, before = "", after = "", note = "", colour = "yellow" }) {
  const form = dialog.querySelector("form");
  form.setAttribute("action", id ? `${ADD_URL}/${id}` : ADD_URL);
  dialog.querySelector("blockquote").textContent = quote;
  for (const [name, value] of Object.entries({ quote, before, after, note, colour })) form.elements[name].value = value;
  form.querySelector('[value="delete"]').hidden = !id;
  dialog.showModal();
  form.elements.note.focus();
}
dialog.querySelector("[data-close-dialog]").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close(); // a click on the backdrop
});

content.addEventListener("click", (event) => {
  const mark = event.target.closest("mark[data-annotation]");
  if (!mark || event.target.closest("a") || !getSelection().isCollapsed) return;
  const { dataset } = document.getElementById(`annotation-${mark.dataset.annotation}`);
  openDialog({ ...dataset });
});

// The toolbar next to the selection; on phones it is at the bottom, away from the browser's own toolbar.

function hideToolbar() {
  toolbar.hidden = true;
}

function placeToolbar() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount || !content.contains(selection.getRangeAt(0).commonAncestorContainer) || !selection.toString().trim()) return hideToolbar();
  toolbar.hidden = false;
  if (matchMedia("(max-width: 40rem)").matches) return toolbar.style.removeProperty("translate");
  const box = selection.getRangeAt(0).getBoundingClientRect();
  const { width, height } = toolbar.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left + box.width / 2 - width / 2, innerWidth - width - 8));
  const top = Math.max(56, Math.min(box.top > height + 64 ? box.top - height - 8 : box.bottom + 8, innerHeight - height - 8));
  toolbar.style.setProperty("translate", `${left}px ${top}px`);
  return undefined;
}

let placeTimer;
function placeSoon() {
  clearTimeout(placeTimer);
  placeTimer = setTimeout(placeToolbar, 120);
}
document.addEventListener("selectionchange", placeSoon);
placeSoon(); // text may have been selected before this script was loaded
addEventListener("scroll", () => { if (!toolbar.hidden) placeSoon(); }, { passive: true });
addEventListener("resize", placeSoon);
toolbar.addEventListener("pointerdown", (event) => event.preventDefault()); // keep the selection
for (const button of toolbar.querySelectorAll("[data-highlight]")) button.addEventListener("click", () => highlight(button.dataset.highlight));

// Moving by paragraph.

const BLOCKS = "p, li, h2, h3, h4, h5, h6, pre, td, th, .formula, figure";
const blocks = () => [...content.querySelectorAll(BLOCKS)].filter((block) => !block.querySelector(BLOCKS) && block.textContent.trim());

function moveBy(step) {
  const all = blocks();
  const now = content.querySelector(".at");
  const seen = all.findIndex((block) => block.getBoundingClientRect().top >= 60);
  const next = now ? all[all.indexOf(now) + step] : all[Math.max(0, seen)];
  if (!next) return;
  now?.classList.remove("at");
  next.classList.add("at");
  next.tabIndex = next.tabIndex < 0 ? -1 : next.tabIndex;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}
content.addEventListener("focusout", (event) => event.target.classList.remove("at"));

Object.assign(keys, {
  j: () => moveBy(1),
  k: () => moveBy(-1),
  h: () => highlight("plain"),
  n: () => highlight("note"),
});

drawHighlights();

// A link to a highlight, as on the page of all highlights: without this script, the browser finds its words by itself.
function showLinked() {
  const [, linked] = location.hash.match(/^#annotation-([\w-]{36})/) ?? [];
  const found = linked && findMark(linked);
  if (!found) return;
  found.scrollIntoView({ block: "center" });
  found.tabIndex = -1;
  found.focus({ preventScroll: true });
}
addEventListener("hashchange", showLinked);
if (document.readyState === "complete") showLinked();
else addEventListener("load", showLinked);
