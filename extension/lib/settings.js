// Where the server is and the token for it, kept where no page and no script in a page can read them.

export const HOME = "http://127.0.0.1:8470";
const UNSET = { server: HOME, token: "", saveOnClick: true };

/** Scripts of ours that run inside a page may not look into the store; browsers that know no such rule run none that tries. */
export async function closeStore() {
  await chrome.storage.local.setAccessLevel?.({ accessLevel: "TRUSTED_CONTEXTS" });
}

export async function settings() {
  const { settings: kept } = await chrome.storage.local.get("settings");
  return { ...UNSET, ...kept };
}

export async function keepSettings(changes) {
  await chrome.storage.local.set({ settings: { ...(await settings()), ...changes } });
}

/** The origin of an address as people type it; an Error that says what is wrong with it. */
export function originOf(typed) {
  const text = typed.trim();
  const address = /^[a-z]+:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address)) throw new Error("That is no address. One looks like this: " + HOME);
  const url = new URL(address);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("The address begins with http:// or https://.");
  return url.origin;
}

/** Whether others on the way can read what is sent there, the token included. */
export function isReadable(origin) {
  const { protocol, hostname } = new URL(origin);
  return protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** The permission pattern for a server: browsers know no ports in them. */
export function patternOf(origin) {
  const { protocol, hostname } = new URL(origin);
  return `${protocol}//${hostname}/*`;
}
