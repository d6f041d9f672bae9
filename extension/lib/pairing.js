// Connecting to a server by one click: the user confirms on the server's own page, and no token is typed.
// As in OAuth with PKCE: only the holder of the random verifier, which never leaves this extension's memory and the final request,
// can exchange the code that the server's page shows in its address. Other sites can neither start this nor read the code.
import { exchangeCode, isPagekeep } from "./server.js";
import { permissionPattern, readSettings, writeSettings } from "./settings.js";

const KEY = "pairing"; // in the session storage: in memory, and only for the extension's own pages
const WANTED = "pairingWanted";
const OUTCOME = "pairingOutcome"; // not in the address of the options: other extensions can open those with any address
const OPTIONS = "options/options.html";
const LIFETIME = 15 * 60_000;
const DONE = "/pair/done";

const toBase64Url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

/** Return the name of this browser, which the server shows. */
function browserName() {
  const brands = navigator.userAgentData?.brands?.map(({ brand }) => brand) ?? [];
  const known = ["Microsoft Edge", "Brave", "Opera", "Vivaldi", "Google Chrome", "Chromium"].find((name) => brands.includes(name));
  return known ?? (/Firefox/.test(navigator.userAgent) ? "Firefox" : "this browser");
}

/** Remember which server is wanted, then ask for the permission to reach it; the click on a button must be just before.
    A popup closes when the browser asks: then `continuePairing` is called when the permission was given. */
export async function requestPairing(server) {
  const asked = chrome.permissions.request({ origins: [permissionPattern(server)] });
  await chrome.storage.session.set({ [WANTED]: server });
  if (!(await asked)) throw new Error("Pagekeep needs permission to connect to the server.");
}

let running = Promise.resolve();

/** Open the page of the wanted server, once; return its address if no Pagekeep server answers there, else null. */
export function continuePairing() {
  const next = running.then(async () => {
    const { [WANTED]: server } = await chrome.storage.session.get(WANTED);
    if (!server) return null; // the page was opened already
    await chrome.storage.session.remove(WANTED);
    return (await openPage(server)) ? null : server;
  });
  running = next.catch(() => {});
  return next;
}

/** Open the options with the message that no server answers; do nothing without an address. */
export async function showMissing(server) {
  if (!server) return;
  await chrome.storage.session.set({ [OUTCOME]: { missing: server } });
  await chrome.tabs.create({ url: chrome.runtime.getURL(OPTIONS) });
}

/** Return how connecting ended, once: `{connected}`, `{failed: message}` or `{missing: server}`; an empty object if it did not. */
export async function takeOutcome() {
  const { [OUTCOME]: outcome = {} } = await chrome.storage.session.get(OUTCOME);
  await chrome.storage.session.remove(OUTCOME);
  return outcome;
}

async function openPage(server) {
  if (!(await isPagekeep(server))) return false;
  const verifier = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  const challenge = toBase64Url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  const query = new URLSearchParams({ challenge, client: browserName() });
  const tab = await chrome.tabs.create({ url: `${server}/pair?${query}` });
  await chrome.storage.session.set({ [KEY]: { server, verifier, tabId: tab.id, until: Date.now() + LIFETIME } });
  return true;
}

/** Finish when the tab that we opened shows the code; tabs of other pages and other servers are ignored. */
export async function watchTab(tabId, url) {
  if (!url?.includes(`${DONE}#code=`)) return;
  const { [KEY]: pairing } = await chrome.storage.session.get(KEY);
  const address = new URL(url);
  const isOurs = pairing?.tabId === tabId && pairing.server === address.origin && address.pathname === DONE && pairing.until > Date.now();
  if (!isOurs) return;
  await chrome.storage.session.remove(KEY); // a code is used once
  const outcome = await finish(pairing, address.hash.slice("#code=".length)).then(() => ({ connected: true }), (error) => ({ failed: error.message }));
  await chrome.storage.session.set({ [OUTCOME]: outcome });
  await chrome.tabs.update(tabId, { url: chrome.runtime.getURL(OPTIONS) });
}

async function finish({ server, verifier }, code) {
  const { secret } = await exchangeCode(server, code, verifier);
  const before = await readSettings();
  await writeSettings({ server, token: secret });
  if (permissionPattern(before.server) !== permissionPattern(server)) await chrome.permissions.remove({ origins: [permissionPattern(before.server)] }).catch(() => {});
}
