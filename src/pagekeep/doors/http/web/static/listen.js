// Reads the article aloud with the browser's own voices, and marks the sentence that is spoken.
// Hidden where the browser has no voice. Uses `textBlocks`, `currentPlace` and `hasMoved` of progress.js.
"use strict";

const player = document.getElementById("player");
const speech = window.speechSynthesis;
const openers = [...document.querySelectorAll("[data-listen]")];
const NOT_SPOKEN = "button, math, .footnote-ref, .footnotes, .formula, pre";
const pageLanguage = article.lang || document.documentElement.lang;
const mark = window.Highlight && CSS.highlights ? new Highlight() : null;
if (mark) CSS.highlights.set("spoken", mark);

let sentences = null; // { block, start, end, text }, in the order of the text
let at = 0;
let isPlaying = false;
let turn = 0; // events of utterances of an earlier turn are ignored

/** Return the text nodes of a block that are spoken, with their positions in its text. */
function spokenNodes(block) {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest(NOT_SPOKEN) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
  const nodes = [];
  let size = 0;
  while (walker.nextNode()) {
    nodes.push({ node: walker.currentNode, start: size });
    size += walker.currentNode.data.length;
  }
  return nodes;
}

function splitSentences() {
  const segmenter = Intl.Segmenter ? new Intl.Segmenter(pageLanguage || undefined, { granularity: "sentence" }) : null;
  const found = [];
  for (const block of textBlocks) {
    const text = spokenNodes(block).map(({ node }) => node.data).join("");
    const parts = segmenter ? segmenter.segment(text) : [{ segment: text, index: 0 }];
    for (const { segment, index } of parts) {
      if (/[\p{L}\p{N}]/u.test(segment)) found.push({ block, start: index, end: index + segment.trimEnd().length, text: segment.replace(/\s+/gu, " ").trim() });
    }
  }
  return found;
}

/** Return where a sentence is now: highlights may have split its text nodes. */
function rangeOfSentence({ block, start, end }) {
  const range = document.createRange();
  range.selectNodeContents(block);
  for (const { node, start: begin } of spokenNodes(block)) {
    const last = begin + node.data.length;
    if (start >= begin && start < last) range.setStart(node, start - begin);
    if (end > begin && end <= last) range.setEnd(node, end - begin);
  }
  return range;
}

function showSentence(sentence) {
  for (const old of document.querySelectorAll(".content .spoken")) old.classList.remove("spoken");
  mark?.clear();
  if (!sentence) return;
  const range = rangeOfSentence(sentence);
  if (mark) mark.add(range);
  else sentence.block.classList.add("spoken");
  const box = range.getBoundingClientRect();
  if (box.top < 80 || box.bottom > innerHeight - 100) scrollTo({ top: scrollY + box.top - innerHeight / 3 });
}

// Voices: those of the page's language, the browser's favourite first.

const language = (tag) => tag.toLowerCase().replace("_", "-");
function fittingVoices() {
  const all = speech?.getVoices() ?? [];
  const wanted = language(pageLanguage || navigator.language);
  const same = all.filter((voice) => language(voice.lang).split("-")[0] === wanted.split("-")[0]);
  const score = (voice) => (language(voice.lang) === wanted ? 4 : 0) + (voice.default ? 2 : 0) + (voice.localService ? 1 : 0);
  return (same.length ? same : all).toSorted((one, other) => score(other) - score(one));
}

function showVoices() {
  const voices = fittingVoices();
  for (const opener of openers) opener.hidden = !voices.length;
  const choice = player.querySelector("[name=voice]");
  const chosen = choice.value;
  choice.replaceChildren(...voices.map((voice) => new Option(voice.name, voice.voiceURI)));
  if (voices.some((voice) => voice.voiceURI === chosen)) choice.value = chosen;
  choice.closest("label").hidden = voices.length < 2;
}

// Playing. Pausing ends the utterance and playing begins the sentence again: some systems cannot go on in the middle.

function speak() {
  const sentence = sentences[at];
  if (!sentence) return stopListening();
  turn += 1;
  const own = turn;
  const utterance = new SpeechSynthesisUtterance(sentence.text);
  const voice = fittingVoices().find(({ voiceURI }) => voiceURI === player.querySelector("[name=voice]").value) ?? fittingVoices()[0];
  utterance.voice = voice ?? null;
  utterance.lang = pageLanguage || voice?.lang || "";
  utterance.rate = Number(player.querySelector("[name=rate]").value);
  utterance.onend = () => {
    if (own !== turn || !isPlaying) return;
    at += 1;
    speak();
  };
  utterance.onerror = (event) => {
    if (own !== turn || ["canceled", "interrupted"].includes(event.error)) return;
    showPlaying(false);
    showMessage("Your browser could not read this aloud.");
  };
  showSentence(sentence);
  speech.speak(utterance);
  return undefined;
}

function showPlaying(playing) {
  isPlaying = playing;
  player.querySelector("[data-play]").hidden = playing;
  player.querySelector("[data-pause]").hidden = !playing;
}

function play() {
  sentences ??= splitSentences();
  if (player.hidden) {
    const { block } = currentPlace();
    const first = sentences.findIndex((sentence) => textBlocks.indexOf(sentence.block) >= block);
    at = scrollY > 200 ? Math.max(0, first) : 0;
    player.hidden = false;
    document.body.classList.add("listening");
  }
  hasMoved = true;
  speech.cancel();
  showPlaying(true);
  speak();
}

function pause() {
  turn += 1;
  showPlaying(false);
  speech.cancel();
}

function skip(step) {
  if (player.hidden) return;
  at = Math.max(0, Math.min(sentences.length - 1, at + step));
  if (isPlaying) {
    turn += 1;
    speech.cancel();
    speak();
  } else showSentence(sentences[at]);
}

function stopListening() {
  pause();
  showSentence(null);
  player.hidden = true;
  document.body.classList.remove("listening");
}

const RATE = "pagekeep:rate";
if (speech && player) {
  const rate = player.querySelector("[name=rate]");
  try {
    const saved = localStorage.getItem(RATE);
    if ([...rate.options].some((option) => option.value === saved)) rate.value = saved;
  } catch { /* storage is blocked */ }
  showVoices();
  speech.addEventListener?.("voiceschanged", showVoices);
  for (const opener of openers) {
    opener.addEventListener("click", () => {
      opener.closest("details")?.removeAttribute("open");
      if (isPlaying) pause();
      else play();
    });
  }
  player.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if ("play" in button.dataset) play();
    else if ("pause" in button.dataset) pause();
    else if ("skip" in button.dataset) skip(Number(button.dataset.skip));
    else stopListening();
    player.querySelector(isPlaying ? "[data-pause]" : "[data-play]").focus({ preventScroll: true });
  });
  player.addEventListener("change", () => {
    try {
      localStorage.setItem(RATE, rate.value);
    } catch { /* as above */ }
    if (isPlaying) skip(0);
  });
  Object.assign(keys, { l: () => openers.find((opener) => !opener.hidden)?.click(), ",": () => skip(-1), ".": () => skip(1) });
  addEventListener("pagehide", () => speech.cancel());
}
