// What a click on the button does: the page is taken at once, before its reader moves on and the popup is gone, and saved unless it is
// in the library already, or its reader wants to look first.
import { captured } from "./capturing.js";
import { keepHere } from "./menus.js";
import { lookUp, preview } from "./server.js";
import { settings } from "./settings.js";

/** Either what became of the page (`became`), or what would be saved (`shown`), and the item that is there, if one is. */
export async function opened(tab) {
  const { saveOnClick } = await settings();
  const taken = await captured(tab);
  const there = await lookUp(taken.page.url).catch(() => null); // no answer: it goes into the queue, where nothing is lost
  if (saveOnClick && !there) return { became: await keepHere(tab, taken), there };
  return { shown: await previewed(taken), there };
}

async function previewed({ page, title }) {
  return { url: page.url, title, selected: Boolean(page.selection), read: page.html ? await preview(page) : null };
}
