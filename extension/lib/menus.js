// The context menu: links, selections, the page, and all tabs.
import { captureByUrl, isWeb } from "./capture.js";
import { requestTabsPermission } from "./permissions.js";
import { saveCaptured, saveTab, saveWindow } from "./save.js";

const ENTRIES = [
  { id: "page", title: "Save page to Pagekeep", contexts: ["page"] },
  { id: "selection", title: "Save selection to Pagekeep", contexts: ["selection"] },
  { id: "link", title: "Save link to Pagekeep", contexts: ["link"] },
  { id: "window", title: "Save all tabs in this window to Pagekeep", contexts: ["page", "action"] },
];

export function createMenus() {
  chrome.contextMenus.removeAll(() => ENTRIES.forEach((entry) => chrome.contextMenus.create(entry)));
}

export async function runMenuEntry({ menuItemId, linkUrl }, tab) {
  if (menuItemId === "window") {
    if (await requestTabsPermission()) await saveWindow(tab.windowId);
  } else if (menuItemId === "link") {
    if (isWeb(linkUrl)) await saveCaptured(tab, captureByUrl(linkUrl));
  } else {
    await saveTab(tab);
  }
}
