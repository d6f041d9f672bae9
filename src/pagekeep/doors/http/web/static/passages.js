// Passages that are marked: found in the text by their words, marked with a pointer or by keys, changed where they stand.
// The list of them, and the forms that change them, come from the server and work without this.
"use strict";

const content = document.getElementById("content");
const passages = document.getElementById("passage-list");
const over = document.getElementById("over-selection");
const noting = document.getElementById("noting");
const NOT_TEXT = "button, math, .footnote-ref, .footnotes .back";
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const CONTEXT = [60, 240, 960]; // characters kept around a passage: more where fewer do not tell it from its equals
const LOOSE = 24; // so many letters at both ends find a passage that has changed within
const MOST_EQUAL = 500;

// The text as one string, which letter of it is where, and its letters and digits alone: quotation marks, dashes, spaces and
// emphasis differ between programs, and between one reading of a page and the next.

function indexed() {
  const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest(NOT_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const nodes = [];
  let raw = "";
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, start: raw.length });
    raw += walker.currentNode.data;
  }
  return { nodes, raw, ...lettered(raw) };
}

function lettered(raw) {
  const places = new Uint32Array(raw.length);
  const parts = [];
  let size = 0;
  for (const { 0: word, index } of raw.matchAll(WORDS)) {
    parts.push(word);
    for (let at = 0; at < word.length; at += 1) places[size++] = index + at;
  }
  return { letters: parts.join(""), places };
}

const lettersOf = (text) => lettered(text).letters;
const inOneLine = (text) => text.replace(/\s+/gu, " ").trim();

function* occurrences(text, wanted) {
  let count = 0;
  for (let at = text.indexOf(wanted); at >= 0 && count < MOST_EQUAL; at = text.indexOf(wanted, at + 1), count += 1) yield at;
}

/** Where a passage stands, as places in the raw text; null where it does not. */
function found({ quote, before, after }, text) {
  const wanted = lettersOf(quote);
  if (!wanted) return null;
  const [from, to] = exactly(wanted, lettersOf(before), lettersOf(after), text.letters) ?? loosely(wanted, text.letters) ?? [];
  return from === undefined ? null : widened(text.places[from], text.places[to - 1] + 1, quote, text.raw);
}

function exactly(wanted, before, after, letters) {
  let best = null;
  for (const at of occurrences(letters, wanted)) {
    const score = alike(letters, at - 1, before, -1) + alike(letters, at + wanted.length, after, 1);
    if (!best || score > best.score) best = { at, score };
  }
  return best && [best.at, best.at + wanted.length];
}

/** How many letters agree, from a place on in one direction. */
function alike(letters, at, around, step) {
  let same = 0;
  let other = step > 0 ? 0 : around.length - 1;
  while (other >= 0 && other < around.length && letters[at] === around[other]) {
    same += 1;
    at += step;
    other += step;
  }
  return same;
}

function loosely(wanted, letters) {
  if (wanted.length < 2 * LOOSE) return null;
  const from = letters.indexOf(wanted.slice(0, LOOSE));
  const last = from < 0 ? -1 : letters.indexOf(wanted.slice(-LOOSE), from + LOOSE);
  return last < 0 || last - from > 2 * wanted.length ? null : [from, last + LOOSE];
}

/** With the signs at its ends that were marked too. */
function widened(from, to, quote, raw) {
  const words = [...quote.matchAll(WORDS)];
  const first = quote.slice(0, words[0].index).trim();
  const last = quote.slice(words.at(-1).index + words.at(-1)[0].length).trim();
  while (from > 0 && first.includes(raw[from - 1])) from -= 1;
  while (to < raw.length && last.includes(raw[to])) to += 1;
  return { from, to };
}

// Marks in the text.

const listed = () => [...passages.querySelectorAll(".passage")];

function drawn() {
  for (const old of content.querySelectorAll("mark.passage-mark")) {
    const parent = old.parentNode;
    old.replaceWith(...old.childNodes);
    parent.normalize();
  }
  const all = listed().filter((entry) => entry.dataset.quote);
  if (!all.length) return;
  const text = indexed();
  const spans = [];
  for (const entry of all) {
    const span = found(entry.dataset, text);
    entry.querySelector(".lost").hidden = Boolean(span);
    if (span) spans.push({ ...span, entry });
  }
  for (const { node, start } of text.nodes) wrap(node, start, spans.filter(({ from, to }) => from < start + node.data.length && to > start));
  inOrder(spans);
  for (const { entry } of spans) pointed(entry);
}

/** Cuts a text where passages begin and end; where several lie over each other the last one made is on top. */
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
    mark.className = `passage-mark ${top.entry.dataset.colour}${top.entry.dataset.note ? " noted" : ""}`;
    mark.dataset.passage = top.entry.dataset.id;
    piece.replaceWith(mark);
    mark.append(piece);
  }
}

/** Notes on the whole page first, then passages as they follow each other in the text, then those that are lost. */
function inOrder(spans) {
  const places = new Map(spans.map(({ entry, from }) => [entry, from]));
  const place = (entry) => (entry.dataset.quote ? (places.get(entry) ?? Infinity) : -1);
  const all = listed();
  const sorted = [...all].sort((one, other) => place(one) - place(other) || all.indexOf(one) - all.indexOf(other));
  passages.querySelector("ol").append(...sorted);
}

const markOf = (id) => content.querySelector(`mark[data-passage="${CSS.escape(id)}"]`);

/** A passage in the list leads to its place in the text. */
function pointed(entry) {
  const quote = entry.querySelector("blockquote");
  const link = document.createElement("button");
  link.type = "button";
  link.className = "show-in-text";
  link.title = "Show it in the text";
  link.append(...quote.childNodes);
  link.addEventListener("click", () => {
    const mark = markOf(entry.dataset.id);
    if (!mark) return;
    mark.scrollIntoView({ block: "center" });
    mark.tabIndex = -1;
    mark.focus({ preventScroll: true });
  });
  quote.append(link);
}

// What is sent to the server, and what it answers.

async function send(address, data) {
  const shown = await part(address, { method: "POST", body: data, headers: csrf() });
  passages.replaceChildren(...shown.childNodes);
  drawn();
}

const PLAIN = noting.querySelector("form").getAttribute("action");
const dataOf = (values) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.set(name, value);
  return data;
};

async function keep(values, words) {
  try {
    await send(PLAIN, dataOf(values));
    tell(words);
  } catch (error) {
    tell(error.message);
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!("passages" in form.dataset)) return;
  event.preventDefault();
  const entry = document.getElementById(`passage-${form.getAttribute("action").split("/").pop()}`);
  const gone = event.submitter?.value === "delete" && entry ? { ...entry.dataset } : null;
  try {
    await send(form.getAttribute("action"), filled(form, event.submitter));
    if (noting.open) noting.close();
    if (!form.closest("dialog, li")) {
      form.reset();
      form.closest("details").open = false;
    }
    if (gone) tellWithUndo("Deleted.", () => keep(restored(gone), "It is back."));
    else tell("Saved.");
  } catch (error) {
    tell(error.message);
  }
});

const restored = ({ quote, before, after, note, colour }) => ({ quote, before, after, note, colour });

function tellWithUndo(text, act) {
  tell(text);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Undo";
  button.addEventListener("click", () => {
    told.replaceChildren();
    act();
  });
  const holder = document.createElement("div");
  holder.dataset.undo = "";
  holder.append(button);
  told.querySelector(".toast").append(holder);
}

// What is selected, by a pointer or by keys.

/** The selection within the text, as a passage; the paragraph at hand where nothing is selected. */
function chosen() {
  const selection = getSelection();
  const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : around(content.querySelector(".at"));
  if (!range || !range.intersectsNode(content)) return null;
  const text = indexed();
  const span = within(range, text);
  return span && passage(span, text);
}

function around(block) {
  if (!block || document.activeElement !== block) return null;
  const range = document.createRange();
  range.selectNodeContents(block);
  return range;
}

function within(range, { nodes }) {
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

function passage({ from, to }, text) {
  const quote = inOneLine(text.raw.slice(from, to)).slice(0, 9_000);
  if (!lettersOf(quote)) return null;
  for (const size of CONTEXT) {
    const before = inOneLine(text.raw.slice(Math.max(0, from - size), from));
    const after = inOneLine(text.raw.slice(to, to + size));
    const equals = [...occurrences(text.letters, lettersOf(before + quote + after))];
    if (equals.length < 2 || size === CONTEXT.at(-1)) return { quote, before, after };
  }
  return null;
}

function take(how) {
  const values = chosen();
  if (!values) {
    tell("Select words in the text first, or go to a paragraph with j.");
    return;
  }
  hide();
  getSelection().removeAllRanges();
  if (how === "plain") keep({ ...values, colour: "yellow" }, "Highlighted.");
  else openNoting(values);
}

function openNoting({ id, quote, before = "", after = "", note = "", colour = "yellow" }) {
  const form = noting.querySelector("form");
  form.setAttribute("action", id ? `${PLAIN}/${id}` : PLAIN);
  noting.querySelector("blockquote").textContent = quote;
  for (const [name, value] of Object.entries({ quote, before, after, note, colour })) form.elements[name].value = value;
  form.querySelector('[value="delete"]').hidden = !id;
  noting.showModal();
  form.elements.note.focus();
}
noting.querySelector("[data-closes]").addEventListener("click", () => noting.close());
noting.addEventListener("click", (event) => {
  if (event.target === noting) noting.close(); // beside it
});

content.addEventListener("click", (event) => {
  const mark = event.target.closest("mark[data-passage]");
  if (!mark || event.target.closest("a") || !getSelection().isCollapsed) return;
  const { dataset } = document.getElementById(`passage-${mark.dataset.passage}`);
  openNoting({ ...dataset });
});

// The buttons beside what is selected; on a phone at the bottom, where the browser's own do not stand.

function hide() {
  over.hidden = true;
}

function place() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount || !content.contains(selection.getRangeAt(0).commonAncestorContainer) || !selection.toString().trim()) return hide();
  over.hidden = false;
  if (matchMedia("(max-width: 40rem)").matches) return over.style.removeProperty("translate");
  const box = selection.getRangeAt(0).getBoundingClientRect();
  const { width, height } = over.getBoundingClientRect();
  const left = Math.max(8, Math.min(box.left + box.width / 2 - width / 2, innerWidth - width - 8));
  const top = Math.max(56, Math.min(box.top > height + 64 ? box.top - height - 8 : box.bottom + 8, innerHeight - height - 8));
  over.style.setProperty("translate", `${left}px ${top}px`);
  return undefined;
}

let placing;
function soon() {
  clearTimeout(placing);
  placing = setTimeout(place, 120);
}
document.addEventListener("selectionchange", soon);
addEventListener("scroll", () => { if (!over.hidden) soon(); }, { passive: true });
addEventListener("resize", soon);
over.addEventListener("pointerdown", (event) => event.preventDefault()); // what is selected stays so
for (const button of over.querySelectorAll("[data-marks]")) button.addEventListener("click", () => take(button.dataset.marks));

// Paragraph by paragraph.

const BLOCKS = "p, li, h2, h3, h4, h5, h6, pre, td, th, .formula, figure";
const blocks = () => [...content.querySelectorAll(BLOCKS)].filter((block) => !block.querySelector(BLOCKS) && block.textContent.trim());

function step(by) {
  const all = blocks();
  const now = content.querySelector(".at");
  const seen = all.findIndex((block) => block.getBoundingClientRect().top >= 60);
  const next = now ? all[all.indexOf(now) + by] : all[Math.max(0, seen)];
  if (!next) return;
  now?.classList.remove("at");
  next.classList.add("at");
  next.tabIndex = next.tabIndex < 0 ? -1 : next.tabIndex;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}
content.addEventListener("focusout", (event) => event.target.classList.remove("at"));

Object.assign(keys, {
  j: () => step(1),
  k: () => step(-1),
  h: () => take("plain"),
  n: () => take("noted"),
});

drawn();
