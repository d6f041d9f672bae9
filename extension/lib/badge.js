// The badge on the extension's button: the result of the last save, and the number of waiting pages.

export const COLOURS = { article: "#2d8a4e", simplified: "#b98900", bookmark: "#cf5f17", discarded: "#86817a" };

/** Show the number of waiting pages, or "!" if some failed and need the user. */
export async function showQueueSize(count, failed = 0) {
  await chrome.action.setBadgeText({ text: count ? String(count) : failed ? "!" : "" });
  if (count || failed) await chrome.action.setBadgeBackgroundColor({ color: failed ? COLOURS.bookmark : COLOURS.discarded });
}

/** Show the result of a save on the tab's own button, until the tab shows another page. */
export async function showResult(tabId, { state, item }) {
  const text = { saved: "✓", waits: "…", refused: "!", bookmarked: "!" }[state];
  const color = state === "saved" ? (COLOURS[item.quality] ?? COLOURS.discarded) : COLOURS[state === "waits" ? "discarded" : "bookmark"];
  try {
    await chrome.action.setBadgeText({ tabId, text });
    await chrome.action.setBadgeBackgroundColor({ tabId, color });
  } catch {
    // The tab was closed in the meantime; the page is in the queue or saved.
  }
}
