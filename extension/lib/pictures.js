// Sending the pictures of a saved page that the server cannot fetch itself, because they need the user's login.
import { listPictures, uploadPicture } from "./server.js";

const MAX_PICTURES = 50;
const MAX_BYTES = 30_000_000; // of all pictures of a page

/** Send the pictures of an item that the tab's own site shows, from the browser's cache where they are. */
export async function sendPictures(tab, item) {
  const pictures = await listPictures(item.id);
  const wanted = pictures.filter(({ state, url }) => state !== "kept" && isOfSite(url, item.url_full)).slice(0, MAX_PICTURES);
  let left = MAX_BYTES;
  for (const { url } of wanted) {
    const picture = await readFromTab(tab.id, item.url_full, url);
    if (!picture) continue;
    left -= picture.length;
    if (left < 0) break;
    await uploadPicture(item.id, url, picture);
  }
}

/** Only pictures of the page's own origin: the browser does not let us read others, and they rarely need a login. */
const isOfSite = (url, page) => URL.canParse(url) && new URL(url).origin === new URL(page).origin;

async function readFromTab(tabId, page, url) {
  try {
    const [{ result }] = await chrome.scripting.executeScript({ target: { tabId }, func: readPicture, args: [new URL(page).origin, url] });
    return result ? Uint8Array.from(atob(result.slice(result.indexOf(",") + 1)), (char) => char.charCodeAt(0)) : null;
  } catch {
    return null; // the tab was closed, or shows another site
  }
}

/** Runs in the page: return a picture as a data URL, or null. */
async function readPicture(origin, url) {
  const MAX_PICTURE_BYTES = 15_000_000;
  if (location.origin !== origin) return null; // the tab shows another site now
  try {
    const response = await fetch(url, { cache: "force-cache", credentials: "same-origin", redirect: "error", signal: AbortSignal.timeout(10_000) });
    const picture = response.ok ? await response.blob() : null;
    if (!picture?.size || picture.size > MAX_PICTURE_BYTES || !/^image\//.test(picture.type)) return null;
    return await new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result);
      reader.onerror = () => done(null);
      reader.readAsDataURL(picture);
    });
  } catch {
    return null;
  }
}
