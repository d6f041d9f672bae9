// The sign on the button: the colour of the last save, and how many pages wait.

export const COLOURS = { article: "#2d8a4e", simplified: "#b98900", bookmark: "#cf5f17", discarded: "#86817a" };

/** How many pages wait; a sign where some wait for nothing but their user. */
export async function waiting(count, failed = 0) {
  await chrome.action.setBadgeText({ text: count ? String(count) : failed ? "!" : "" });
  if (count || failed) await chrome.action.setBadgeBackgroundColor({ color: failed ? COLOURS.bookmark : COLOURS.discarded });
}

/** For the tab's own button, until it goes elsewhere. */
export async function became(tabId, { state, item }) {
  const text = { saved: "✓", waits: "…", refused: "!" }[state];
  const color = state === "saved" ? (COLOURS[item.quality] ?? COLOURS.discarded) : COLOURS[state === "waits" ? "discarded" : "bookmark"];
  try {
    await chrome.action.setBadgeText({ tabId, text });
    await chrome.action.setBadgeBackgroundColor({ tabId, color });
  } catch {
    // The tab was closed meanwhile; the page is kept all the same.
  }
}
