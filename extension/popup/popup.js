// The popup: saves the page on one click (or shows it first, if so chosen), and says what became of it.
import { settings } from "../lib/settings.js";
import { askLeave } from "../lib/leave.js";

const MESSAGES = {
  article: ({ word_count }) => `Article captured (${word_count} words)`,
  simplified: () => "Article captured (simplified)",
  bookmark: () => "Saved as bookmark - extraction failed",
  discarded: () => "Discarded by a rule",
};
const at = (id) => document.getElementById(id);
const chosen = await settings();
const tab = await thisTab();
let item = null;

/** The tab in front; another may be named in the address. */
async function thisTab() {
  const named = Number(new URLSearchParams(location.search).get("tab"));
  if (named) return chrome.tabs.get(named);
  return (await chrome.tabs.query({ active: true, currentWindow: true }))[0];
}

async function tell(act, rest = {}) {
  const answer = await chrome.runtime.sendMessage({ act, ...rest });
  if (answer.error) throw Object.assign(new Error(answer.error.message), answer.error);
  return answer.value;
}

function say(text, level = "", { title, facts, advice = [] } = {}) {
  at("said").textContent = text;
  at("dot").dataset.level = level;
  if (title !== undefined) at("title").textContent = title;
  if (facts !== undefined) at("facts").textContent = facts;
  at("advice").replaceChildren(...advice.filter(Boolean).map((line) => listItem(line)));
  at("advice").hidden = !advice.some(Boolean);
}

function listItem(text, ...more) {
  const line = document.createElement("li");
  line.append(text, ...more);
  return line;
}

const day = (moment) => new Date(moment).toLocaleDateString(undefined, { dateStyle: "long" });
const tags = () => at("tags").value.split(",").map((tag) => tag.trim()).filter(Boolean);
const count = (words) => (words === null || words === undefined ? "" : `${words} words`);
const listed = (...parts) => parts.filter(Boolean).join(" · ");

function showItem(shown) {
  item = shown;
  at("tags").value = shown.tags.join(", ");
  at("reader").href = `${chosen.server}/items/${encodeURIComponent(shown.id)}`;
  at("reader").hidden = false;
  at("methods").hidden = false;
}

function showButton(name) {
  at("save").hidden = name !== "save";
  at("retag").hidden = name !== "retag";
}

function showResult({ state, item: saved, error, page }) {
  if (state === "saved") return showSaved(saved, page);
  const text = state === "refused" ? error.message : "Kept here, and sent as soon as the server takes it.";
  say(text, state === "refused" ? "problem" : "waits", { advice: state === "refused" ? error.suggestions : [error.message, ...error.suggestions] });
  at("methods").hidden = state !== "refused";
  showButton("");
}

function showSaved(saved, page) {
  const message = MESSAGES[saved.quality]?.(saved) ?? "Saved";
  const part = page.selected ? "the selection" : page.sent ? "" : "fetched by the server";
  say(saved.outcome === "kept" ? "What was saved before is better, and stays" : message, saved.quality, {
    title: saved.title,
    facts: listed(saved.domain, count(saved.word_count), saved.reading_time, part),
    advice: [saved.note, saved.reason, saved.suggestion, ...saved.warnings],
  });
  showItem(saved);
  showButton("retag");
  at("already").hidden = true;
}

function showThere(there) {
  at("already").textContent = `Already saved on ${day(there.saved_at)}`;
  at("already").hidden = false;
  showItem(there);
}

/** What would be saved, before it is. */
function showPreview({ read, title, selected }, there) {
  if (there) showThere(there);
  // The message is that of the page as it stands here; a bookmark would not be "saved" yet.
  const message = read && read.quality.level !== "bookmark" ? read.quality.message : "Only a bookmark";
  say(there ? "In your library" : read ? `Not saved yet: ${message}` : "Not saved yet", there?.quality ?? read?.quality.level ?? "", {
    title: read?.title ?? title,
    facts: read ? listed(count(read.word_count), read.reading_time, selected && "the selection") : "The server will fetch this page.",
    advice: [read?.quality.reason],
  });
  at("save").textContent = there ? "Save again" : "Save";
  showButton("save");
}

function showFault(error) {
  say(error.message, "problem", { advice: error.suggestions ?? [] });
}

async function save(method = "shown", force = false) {
  say(method === "whole" ? "Going through the page…" : "Saving…", "busy");
  try {
    showResult(await tell("save", { tabId: tab.id, method, tags: tags(), force }));
  } catch (error) {
    showFault(error);
  }
  await showQueue();
}

let queueShown = "";

async function showQueue() {
  const waiting = await tell("waiting");
  if (JSON.stringify(waiting) === queueShown) return;
  queueShown = JSON.stringify(waiting);
  at("queue").hidden = !waiting.length;
  const failed = waiting.filter(({ refused }) => refused).length;
  const left = waiting.length - failed;
  at("queue-title").textContent = listed(
    left && (left === 1 ? "One page waits" : `${left} pages wait`),
    failed && (failed === 1 ? "One page could not be saved" : `${failed} pages could not be saved`),
  );
  at("send").hidden = !left;
  at("waiting").replaceChildren(...waiting.map(waitingLine));
}

function waitingLine({ number, title, url, refused, trouble }) {
  const drop = button("Discard", () => tell("discard", { number }));
  const name = title || url;
  if (!refused) return trouble ? listItem(name, said(`${trouble.message} Next try at ${clock(trouble.due)}.`), drop) : listItem(name, drop);
  return listItem(name, said(refused, "failed"), button("Try again", async () => showResult(await tell("again", { number }))), drop);
}

const clock = (moment) => new Date(moment).toLocaleTimeString(undefined, { timeStyle: "short" });

function said(text, kind = "quiet") {
  const line = document.createElement("p");
  line.className = kind;
  line.textContent = text;
  return line;
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "plain";
  made.textContent = text;
  made.addEventListener("click", () => act().catch(showFault).then(showQueue));
  return made;
}

async function begin() {
  say("Looking at the page…", "busy", { title: tab.title ?? "" });
  if (!chosen.token) return say("No server is set up yet.", "problem", { advice: ["Open the options, and enter its address and a token."] });
  try {
    const { became, shown, there } = await tell("open", { tabId: tab.id });
    if (became) showResult(became);
    else showPreview(shown, there);
  } catch (error) {
    showFault(error);
  }
}

at("tagging").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (at("retag").hidden) return save("shown");
  try {
    showItem(await tell("retag", { id: item.id, tags: tags() }));
    at("said").textContent = "Tags set";
  } catch (error) {
    showFault(error);
  }
});
for (const choice of document.querySelectorAll("[data-method]"))
  // Whoever asks for another way wants what it gives, be it shorter.
  choice.addEventListener("click", () => save(choice.dataset.method, true));
at("send").addEventListener("click", () => tell("sendAll").catch(showFault).then(showQueue));
at("options").addEventListener("click", () => chrome.runtime.openOptionsPage());
at("window").addEventListener("click", async () => {
  try {
    if (!(await askLeave())) return;
    const { count: all, saved } = await tell("keepWindow", { windowId: tab.windowId });
    say(saved === all ? `${all} pages saved` : `${saved} of ${all} pages saved; the others wait below`, saved === all ? "article" : "waits");
  } catch (error) {
    showFault(error);
  }
  await showQueue();
});

await begin();
await showQueue();
setInterval(() => showQueue().catch(showFault), 1_000); // what waits is sent meanwhile
