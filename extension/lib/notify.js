// Notifications about pages that the server could not fetch: it keeps their URLs, which the user can retry.
import { retryItem } from "./server.js";
import { readSettings } from "./settings.js";

const PREFIX = "item:";

/** Show that only the URL was saved, and why; with a button that retries it. */
export async function notifyBookmarked({ itemId, error, page = null }, { retry = true } = {}) {
  const options = {
    type: "basic",
    iconUrl: chrome.runtime.getURL("icons/128.png"),
    title: "Could not be saved",
    message: error.message,
    ...(page && { contextMessage: new URL(page.url).host }),
  };
  try {
    await chrome.notifications.create(`${PREFIX}${itemId}`, retry ? { ...options, buttons: [{ title: "Retry" }] } : options);
  } catch {
    await chrome.notifications.create(`${PREFIX}${itemId}`, options); // Firefox has no buttons: a click opens the item, with its own
  }
}

/** Retry the item of a notification, which counts as one of its three retries, and show the result in its place. */
export async function retryFromNotification(id) {
  const itemId = id.slice(PREFIX.length);
  try {
    const item = await retryItem(itemId);
    await chrome.notifications.create(id, {
      type: "basic",
      iconUrl: chrome.runtime.getURL("icons/128.png"),
      title: item.quality === "bookmark" ? "Still a bookmark" : "Saved",
      message: item.quality === "bookmark" ? (item.reason ?? item.title) : item.title,
    });
  } catch (error) {
    await notifyBookmarked({ itemId, error }, { retry: error.type !== "RetryLimit" });
  }
}

const isItem = (id) => id.startsWith(PREFIX);

chrome.notifications.onButtonClicked?.addListener((id) => {
  if (isItem(id)) retryFromNotification(id);
});
chrome.notifications.onClicked.addListener(async (id) => {
  if (!isItem(id)) return;
  const { server } = await readSettings();
  await chrome.tabs.create({ url: `${server}/items/${encodeURIComponent(id.slice(PREFIX.length))}` });
  await chrome.notifications.clear(id);
});
