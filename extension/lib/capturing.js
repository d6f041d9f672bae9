// What a tab shows, as something to be sent. Methods: shown (the page as it is, or what is selected of it), whole (all of it, after
// going down to its end), server (the server fetches it itself).

const HTML = new Set(["text/html", "application/xhtml+xml"]);

/** The page of a tab: `{page, title}`. An Error that says so when it is none that can be saved. */
export async function captured(tab, method = "shown") {
  const address = tab.url ?? "";
  if (method === "server" && isWeb(address)) return byAddress(address, tab.title);
  const seen = await inPage(tab.id, method);
  if (seen === null) {
    if (isWeb(address)) return byAddress(address, tab.title); // the browser lets nobody in, but the server may fetch it
    throw new Error("This page belongs to the browser and cannot be saved.");
  }
  if (!isWeb(seen.url)) throw new Error("Only pages of the web can be saved, not files of this computer.");
  if (method === "server" || !HTML.has(seen.type)) return byAddress(seen.url, seen.title);
  return { page: sendable(seen), title: seen.title };
}

export const isWeb = (url) => /^https?:\/\//.test(url);

/** A page that the server fetches. */
export const byAddress = (url, title) => ({ page: { url }, title: title || url });

const sendable = ({ url, html, selection }) => ({ url, html, rendered: true, ...(selection && { selection }) });

async function inPage(tabId, method) {
  const target = { tabId };
  try {
    await chrome.scripting.executeScript({ target, files: ["page/flatten.js", "page/selection.js", "page/whole.js"] });
    const [{ result }] = await chrome.scripting.executeScript({ target, func: look, args: [method] });
    return result ?? null;
  } catch {
    return null; // not ours to look at: a page of the browser, its shop, or one that was left meanwhile
  }
}

/** Runs in the page. */
async function look(method) {
  const told = { url: location.href, title: document.title || location.href, type: document.contentType };
  if (method === "server") return told;
  if (method === "whole") await globalThis.pagekeep.unfold();
  const selection = method === "shown" ? globalThis.pagekeep.selection() : null;
  return { ...told, selection, html: globalThis.pagekeep.flatten() };
}
