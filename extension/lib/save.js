// Saving what tabs show: one tab, a captured page, all tabs of a window.
import { showResult } from "./badge.js";
import { capture, captureByUrl, isWeb } from "./capture.js";
import { hasTabsPermission } from "./permissions.js";
import { notifyBookmarked } from "./notify.js";
import { sendPictures } from "./pictures.js";
import { sendPage } from "./sender.js";
import { lookUp, preview } from "./server.js";
import { readSettings } from "./settings.js";

/** Save what a tab shows, and show the result on the button. */
export async function saveTab(tab, method = "shown", { tags = [], force = false } = {}) {
  const { page, title } = await capture(tab, method);
  return saveCaptured(tab, { page: { ...page, tags, force }, title });
}

/** Save a captured page, and show the result on the tab's button. */
export async function saveCaptured(tab, { page, title }) {
  const result = await sendPage(page, title);
  await showResult(tab.id, result);
  if (result?.state === "bookmarked") await notifyBookmarked(result);
  // The text is saved: the result does not wait for the pictures, and those that fail are left to the server.
  if (result?.state === "saved" && page.html && result.item.pictures_job) sendPictures(tab, result.item).catch(() => {});
  return result;
}

/**
 * Handle a click on the button: capture the page at once, before the user moves on and the popup closes. Save it unless it is
 * already in the library or the user prefers a preview. Return `result` or `preview`, and the `existing` item, if any.
 */
export async function openPopup(tab) {
  const { saveOnClick } = await readSettings();
  const captured = await capture(tab);
  const existing = await lookUp(captured.page.url).catch(() => null); // no response: the page goes into the queue
  if (saveOnClick && !existing) return { result: await saveCaptured(tab, captured), existing };
  return { preview: await previewPage(captured), existing };
}

async function previewPage({ page, title }) {
  return { url: page.url, title, selected: Boolean(page.selection), extracted: page.html || page.file ? await preview(page) : null };
}

/** Save all tabs of a window; return how many there are and how many are saved already. The server fetches the background tabs. */
export async function saveWindow(windowId) {
  if (!(await hasTabsPermission())) throw new Error("To save all tabs, allow Pagekeep to see their URLs.");
  const tabs = (await chrome.tabs.query({ windowId })).filter((tab) => isWeb(tab.url ?? ""));
  const pages = await Promise.all(tabs.map((tab) => (tab.active ? capture(tab) : captureByUrl(tab.url, tab.title))));
  const results = await Promise.all(pages.map(({ page, title }) => sendPage(page, title)));
  return { count: results.length, saved: results.filter(({ state }) => state === "saved").length };
}
