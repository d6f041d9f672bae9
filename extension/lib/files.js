// Documents that a tab shows, such as a PDF, as files: the bytes that the browser has, with the user's login.

const TYPES = { "application/pdf": "pdf", "text/plain": "text", "text/markdown": "markdown" };

/** Return `{page, title}` with the file that a tab shows; null if it is not a document, or only the server can get it. */
export async function captureFile(tabId, { url, title, type }) {
  const file = Object.hasOwn(TYPES, type) ? await readFromTab(tabId, url, type) : null;
  if (!file) return null;
  const name = nameIn(url);
  // Servers send most files of text as plain text: then their name says more.
  const isNamed = type === "text/plain" && /\.(csv|markdown|md|srt|tsv|vtt)$/i.test(name);
  return { page: { url, file, ...(name && { name }), ...(!isNamed && { type: TYPES[type] }) }, title };
}

async function readFromTab(tabId, url, type) {
  try {
    const [{ result }] = await chrome.scripting.executeScript({ target: { tabId }, func: readFile, args: [url, type] });
    return result ? result.slice(result.indexOf(",") + 1) : null;
  } catch {
    return null; // the tab was closed, or the browser's viewer allows no extension
  }
}

/** Return the file name at the end of an address, for types that only a name shows. */
function nameIn(url) {
  const last = new URL(url).pathname.split("/").at(-1);
  try {
    return decodeURIComponent(last).slice(0, 300);
  } catch {
    return last.slice(0, 300);
  }
}

/** Runs in the page: return the file as a data URL; null if it is not the one that the tab shows, or too large. */
async function readFile(url, type) {
  const MAX_BYTES = 40_000_000; // what a tab can hand over is limited; the server fetches larger files itself
  if (location.href !== url) return null; // the tab shows another page now
  try {
    const response = await fetch(url, { cache: "force-cache", credentials: "same-origin", signal: AbortSignal.timeout(30_000) });
    const file = response.ok ? await response.blob() : null;
    if (!file?.size || file.size > MAX_BYTES || file.type.split(";")[0].trim() !== type) return null;
    return await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.onerror = () => done(null);
      reader.readAsDataURL(file);
    });
  } catch {
    return null;
  }
}
