// Capturing what a tab shows. Methods: shown (the page as displayed, or its selection), whole (after scrolling to the end), server
// (the server fetches the URL). A document such as a PDF is captured as its file.
import { captureFile } from "./files.js";

const HTML = new Set(["text/html", "application/xhtml+xml"]);

/** Capture a tab and return `{page, title}`; throw an Error if the tab cannot be saved. */
export async function capture(tab, method = "shown") {
  const url = tab.url ?? "";
  if (method === "server" && isWeb(url)) return captureByUrl(url, tab.title);
  const seen = await captureInPage(tab.id, method);
  if (seen === null) {
    if (isWeb(url)) return captureByUrl(url, tab.title); // the browser blocks extensions here, but the server may fetch it
    throw new Error("Browser pages cannot be saved.");
  }
  if (!isWeb(seen.url)) throw new Error("Only web pages can be saved, not files on this computer.");
  if (method === "server") return captureByUrl(seen.url, seen.title);
  if (!HTML.has(seen.type)) return (await captureFile(tab.id, seen)) ?? captureByUrl(seen.url, seen.title);
  if (seen.excess) throw tooLarge(seen.excess);
  const { html, selection } = seen;
  return { page: { url: seen.url, html, rendered: true, ...(selection && { selection }) }, title: seen.title };
}

export const isWeb = (url) => /^https?:\/\//.test(url);

/** Return a page that the server fetches. */
export const captureByUrl = (url, title) => ({ page: { url }, title: title || url });

const tooLarge = (chars) =>
  Object.assign(new Error(`This page is too large: ${Math.round(chars / 1e6)} MB, over the limit of 10 MB.`), {
    suggestions: ["Select the part you need, and save that."],
  });

async function captureInPage(tabId, method) {
  const target = { tabId };
  try {
    await chrome.scripting.executeScript({ target, files: ["page/names.js", "page/flatten.js", "page/selection.js", "page/scroll.js"] });
    const [{ result }] = await chrome.scripting.executeScript({ target, func: readPage, args: [method] });
    return result ?? null;
  } catch {
    return null; // a browser page, the extension store, or a page that was closed in the meantime
  }
}

/** Runs in the page. */
async function readPage(method) {
  const MAX_CHARS = 10_000_000; // the server accepts no larger page
  const [titleOf, typeOf] = ["title", "contentType"].map((name) => pagekeep.getter(Document, name));
  const about = { url: location.href, title: (titleOf(document) || location.href).slice(0, 1000), type: typeOf(document) };
  if (method === "server" || !/html/.test(about.type)) return about;
  if (method === "whole") await pagekeep.scrollThrough();
  const selection = method === "shown" ? pagekeep.selection() : null;
  const html = pagekeep.flatten();
  const kept = (selection ?? html).length;
  if (kept > MAX_CHARS) return { ...about, excess: kept }; // a flood stays in the page
  return { ...about, selection, html: html.length > MAX_CHARS ? "<html></html>" : html };
}
