// The context menu: links, selections, the page, and all tabs.
import { byAddress, captured, isWeb } from "./capturing.js";
import { became } from "./badge.js";
import { askLeave } from "./leave.js";
import { keep } from "./sending.js";
import { keepWindow } from "./tabs.js";

const ENTRIES = [
  { id: "page", title: "Save page to Pagekeep", contexts: ["page"] },
  { id: "selection", title: "Save selection to Pagekeep", contexts: ["selection"] },
  { id: "link", title: "Save link to Pagekeep", contexts: ["link"] },
  { id: "window", title: "Save all tabs of this window to Pagekeep", contexts: ["page", "action"] },
];

export function makeMenus() {
  chrome.contextMenus.removeAll(() => ENTRIES.forEach((entry) => chrome.contextMenus.create(entry)));
}

export async function chosen({ menuItemId, linkUrl }, tab) {
  if (menuItemId === "window") {
    if (await askLeave()) await keepWindow(tab.windowId);
  } else if (menuItemId === "link") {
    if (isWeb(linkUrl)) await keepHere(tab, byAddress(linkUrl));
  } else {
    await keepTab(tab);
  }
}

/** Saves what a tab shows, and says on the button what became of it. */
export async function keepTab(tab, method = "shown", { tags = [], force = false } = {}) {
  const { page, title } = await captured(tab, method);
  return keepHere(tab, { page: { ...page, tags, force }, title });
}

/** Keeps a page that was found in a tab. */
export async function keepHere(tab, { page, title }) {
  const result = await keep(page, title);
  await became(tab.id, result);
  return result;
}
