// The server's address and token, stored where web pages and scripts in them cannot read them.

export const DEFAULT_SERVER = "http://127.0.0.1:8470";
const DEFAULTS = { server: DEFAULT_SERVER, token: "", saveOnClick: true };

/** Block our own scripts inside web pages from reading the storage; browsers without this setting have no such scripts of ours. */
export async function protectStorage() {
  await chrome.storage.local.setAccessLevel?.({ accessLevel: "TRUSTED_CONTEXTS" });
}

export async function readSettings() {
  const { settings } = await chrome.storage.local.get("settings");
  return { ...DEFAULTS, ...settings };
}

export async function writeSettings(changes) {
  await chrome.storage.local.set({ settings: { ...(await readSettings()), ...changes } });
}

/** Return the origin of a typed server address; throw an Error if it is invalid. */
export function parseOrigin(typed) {
  const text = typed.trim();
  const address = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new Error(`Invalid server address. Example: ${DEFAULT_SERVER}`);
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("The server address must start with http:// or https://.");
  return url.origin;
}

/** Return whether the connection to the server is unencrypted and leaves this computer. */
export function isUnencrypted(origin) {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** Return the host permission pattern for a server; patterns have no ports. */
export function permissionPattern(origin) {
  const { protocol, hostname } = new URL(origin);
  return `${protocol}//${hostname}/*`;
}
