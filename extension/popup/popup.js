// The popup: saves the page on one click (or shows a preview first, if so set), and shows the result.
import { requestPairing, showMissing } from "../lib/pairing.js";
import { requestTabsPermission } from "../lib/permissions.js";
import { readSettings } from "../lib/settings.js";

const MESSAGES = {
  article: ({ word_count, file_type }) => `${file_type ?? "Article"} captured (${word_count} words)`,
  simplified: () => "Article captured (simplified)",
  bookmark: () => "Saved as a bookmark: no content found",
  discarded: () => "Discarded by a rule",
};
const byId = (id) => document.getElementById(id);
const settings = await readSettings();
const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
let item = null;

/** Run an action of the background worker. */
async function run(act, rest = {}) {
  const response = await chrome.runtime.sendMessage({ act, ...rest });
  if (response.error) throw Object.assign(new Error(response.error.message), response.error);
  return response.value;
}

function showMessage(text, level = "", { title, facts, advice = [] } = {}) {
  byId("message").textContent = text;
  byId("dot").dataset.level = level;
  if (title !== undefined) byId("title").textContent = title;
  if (facts !== undefined) byId("facts").textContent = facts;
  byId("advice").replaceChildren(...advice.filter(Boolean).map((line) => listItem(line)));
  byId("advice").hidden = !advice.some(Boolean);
}

function listItem(text, ...more) {
  const line = document.createElement("li");
  line.append(text, ...more);
  return line;
}

const formatDate = (time) => new Date(time).toLocaleDateString(undefined, { dateStyle: "long" });
const readTags = () => byId("tags").value.split(",").map((tag) => tag.trim()).filter(Boolean);
const formatWords = (words) => (words === null || words === undefined ? "" : `${words} words`);
const formatPages = (pages) => (pages ? `${pages} ${pages === 1 ? "page" : "pages"}` : "");
const join = (...parts) => parts.filter(Boolean).join(" · ");

function showItem(newItem) {
  item = newItem;
  byId("tags").value = newItem.tags.join(", ");
  byId("reader").href = `${settings.server}/items/${encodeURIComponent(newItem.id)}`;
  byId("reader").hidden = false;
  byId("methods").hidden = false;
  document.querySelector("[data-method=whole]").hidden = Boolean(newItem.file_type); // there is nothing to scroll in a file
}

function showButton(name) {
  byId("save").hidden = name !== "save";
  byId("retag").hidden = name !== "retag";
}

function showResult({ state, item: saved, error, page, itemId }) {
  if (state === "saved") return showSaved(saved, page);
  if (state === "bookmarked") return showBookmarked(itemId, error, page);
  const text = state === "refused" ? error.message : "Waiting: the page is sent when the server is available.";
  showMessage(text, state === "refused" ? "problem" : "waits", { advice: state === "refused" ? error.suggestions : [error.message, ...error.suggestions] });
  byId("methods").hidden = state !== "refused";
  showButton("");
}

function showSaved(saved, page) {
  const message = MESSAGES[saved.quality]?.(saved) ?? "Saved";
  const part = page.selected ? "selection only" : page.sent ? "" : "fetched by the server";
  showMessage(saved.outcome === "kept" ? "The version you saved before is better and was kept" : message, saved.quality, {
    title: saved.title,
    facts: join(saved.domain, formatPages(saved.page_count), formatWords(saved.word_count), saved.reading_time, part),
    advice: [saved.note, saved.reason, saved.suggestion, ...saved.warnings],
  });
  showItem(saved);
  showButton("retag");
  byId("already").hidden = true;
}

/** Show that the server could not fetch the page and keeps its URL, with a button that retries it. */
function showBookmarked(itemId, error, page) {
  showMessage("Could not be saved", "bookmark", { title: page.url, facts: error.message, advice: error.suggestions });
  byId("reader").href = `${settings.server}/items/${encodeURIComponent(itemId)}`;
  byId("reader").hidden = false;
  byId("methods").hidden = false;
  showButton("");
  if (error.type === "RetryLimit") return;
  byId("advice").append(listItem("", button("Retry", async () => {
    showMessage("Saving…", "busy");
    try {
      showSaved({ outcome: "updated", warnings: [], ...(await run("retryItem", { id: itemId })) }, page);
    } catch (failed) {
      showBookmarked(itemId, failed, page);
    }
  })));
}

function showExisting(item) {
  byId("already").textContent = `Already saved on ${formatDate(item.saved_at)}`;
  byId("already").hidden = false;
  showItem(item);
}

/** Show what would be saved. */
function showPreview({ extracted, title, selected }, existing) {
  if (existing) showExisting(existing);
  // The server's message for a bookmark says "saved", which is not true yet.
  const message = extracted && extracted.quality.level !== "bookmark" ? extracted.quality.message : "Only a bookmark";
  showMessage(existing ? "In your library" : extracted ? `Not saved yet: ${message}` : "Not saved yet", existing?.quality ?? extracted?.quality.level ?? "", {
    title: extracted?.title ?? title,
    facts: extracted ? join(formatPages(extracted.page_count), formatWords(extracted.word_count), extracted.reading_time, selected && "selection only") : "The server will fetch this page.",
    advice: [extracted?.quality.reason],
  });
  byId("save").textContent = existing ? "Save again" : extracted?.file_type ? `Save this ${extracted.file_type}` : "Save";
  showButton("save");
}

function showError(error) {
  showMessage(error.message, "problem", { advice: error.suggestions ?? [] });
}

async function save(method = "shown", force = false) {
  showMessage(method === "whole" ? "Scrolling through the page…" : "Saving…", "busy");
  try {
    showResult(await run("save", { tabId: tab.id, method, tags: readTags(), force }));
  } catch (error) {
    showError(error);
  }
  await showQueue();
}

let queueShown = "";

async function showQueue() {
  const waiting = await run("waiting");
  if (JSON.stringify(waiting) === queueShown) return;
  queueShown = JSON.stringify(waiting);
  byId("queue").hidden = !waiting.length;
  const failed = waiting.filter(({ refused }) => refused).length;
  const left = waiting.length - failed;
  byId("queue-title").textContent = join(
    left && (left === 1 ? "1 page waiting" : `${left} pages waiting`),
    failed && (failed === 1 ? "1 page could not be saved" : `${failed} pages could not be saved`),
  );
  byId("send").hidden = !left;
  byId("waiting").replaceChildren(...waiting.map(waitingLine));
}

function waitingLine({ number, title, url, refused, trouble }) {
  const drop = button("Discard", () => run("discard", { number }));
  const name = title || url;
  if (!refused) return trouble ? listItem(name, paragraph(`${trouble.message} Next attempt at ${formatTime(trouble.due)}.`), drop) : listItem(name, drop);
  return listItem(name, paragraph(refused, "failed"), button("Try again", async () => showResult(await run("retry", { number }))), drop);
}

const formatTime = (time) => new Date(time).toLocaleTimeString(undefined, { timeStyle: "short" });

function paragraph(text, kind = "quiet") {
  const line = document.createElement("p");
  line.className = kind;
  line.textContent = text;
  return line;
}

function button(text, onClick) {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "plain";
  element.textContent = text;
  element.addEventListener("click", () => onClick().catch(showError).then(showQueue));
  return element;
}

/** In a tab, where other extensions can open this page too: say where to click. Only a click on the button may save. */
function showElsewhere() {
  document.querySelector("#setup p").textContent = "Click the Pagekeep button in the toolbar to save a page.";
  byId("connect").hidden = true;
  byId("setup").hidden = false;
  byId("page").hidden = true;
  byId("window").hidden = true;
}

/** Before the set-up: one sentence and one button, which tries the server on this computer. */
function showSetup() {
  byId("setup").hidden = false;
  byId("page").hidden = true;
  byId("window").hidden = true;
  byId("connect").addEventListener("click", async () => {
    try {
      await requestPairing(settings.server);
      await showMissing(await run("pair"));
      window.close();
    } catch (error) {
      byId("setup").append(Object.assign(document.createElement("p"), { className: "failed", textContent: error.message }));
    }
  });
}

async function start() {
  if (!settings.token) return showSetup();
  showMessage("Reading the page…", "busy", { title: tab.title ?? "" });
  try {
    const { result, preview, existing } = await run("open", { tabId: tab.id });
    if (result) showResult(result);
    else showPreview(preview, existing);
  } catch (error) {
    showError(error);
  }
}

byId("tagging").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (byId("retag").hidden) return save("shown");
  try {
    showItem(await run("retag", { id: item.id, tags: readTags() }));
    byId("message").textContent = "Tags updated";
  } catch (error) {
    showError(error);
  }
});
for (const choice of document.querySelectorAll("[data-method]"))
  // The user chose this method, so its result replaces the saved one even if it is shorter.
  choice.addEventListener("click", () => save(choice.dataset.method, true));
byId("send").addEventListener("click", () => run("sendAll").catch(showError).then(showQueue));
byId("options").addEventListener("click", () => chrome.runtime.openOptionsPage());
byId("window").addEventListener("click", async () => {
  try {
    if (!(await requestTabsPermission())) return;
    const { count: all, saved } = await run("saveWindow", { windowId: tab.windowId });
    showMessage(saved === all ? `${all} pages saved` : `${saved} of ${all} pages saved, the others are waiting`, saved === all ? "article" : "waits");
  } catch (error) {
    showError(error);
  }
  await showQueue();
});

if (await chrome.tabs.getCurrent()) {
  showElsewhere();
} else {
  await start();
  await showQueue();
  setInterval(() => showQueue().catch(showError), 1_000); // waiting pages may be sent while the popup is open
}
