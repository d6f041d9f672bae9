// All tabs of a window. What stands in those behind is not ours to see: the server fetches them; the one in front is sent as it is.
import { byAddress, captured, isWeb } from "./capturing.js";
import { hasLeave } from "./leave.js";
import { keep } from "./sending.js";

/** Gives how many pages were taken, and how many of them are saved already. */
export async function keepWindow(windowId) {
  if (!(await hasLeave())) throw new Error("Without leave to see the addresses of tabs they cannot be saved.");
  const tabs = (await chrome.tabs.query({ windowId })).filter((tab) => isWeb(tab.url ?? ""));
  const pages = await Promise.all(tabs.map((tab) => (tab.active ? captured(tab) : byAddress(tab.url, tab.title))));
  const became = await Promise.all(pages.map(({ page, title }) => keep(page, title)));
  return { count: became.length, saved: became.filter(({ state }) => state === "saved").length };
}
