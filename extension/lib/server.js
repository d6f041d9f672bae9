// Requests to the server. The token is used only here: it is sent to the server's own origin and never follows a redirect.
import { readSettings } from "./settings.js";

const TIMEOUT = 120_000;
const SHORT_TIMEOUT = 5_000; // for requests that delay others: a page is not queued before its lookup ends

/** A failed request. `kind`: off (no response), stranger (bad token), busy (try later), no (a retry cannot succeed). */
export class RequestError extends Error {
  constructor(kind, message, { type = null, suggestions = [], item_id: itemId = null } = {}) {
    super(message);
    this.kind = kind;
    this.type = type;
    this.suggestions = suggestions;
    this.itemId = itemId; // the bookmark that keeps the URL of a page that the server could not fetch
  }
}

const OFF = "Cannot reach the server.";
const KINDS = { 401: "stranger", 403: "stranger", 408: "busy", 409: "busy", 429: "busy", 500: "busy", 503: "busy" };

/** Send a request and return the JSON response; throw `RequestError` if it fails. `as` is a server and token not saved yet. */
export async function request(method, path, { body, file, key, as, timeout = TIMEOUT } = {}) {
  const { server, token } = as ?? (await readSettings());
  if (!token) throw new RequestError("stranger", "No token is set.", { suggestions: ["Connect in the options."] });
  const response = await send(`${server}/api/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: "application/json",
      ...(body && { "Content-Type": "application/json" }),
      ...(file && { "Content-Type": "application/octet-stream" }),
      ...(key && { "Idempotency-Key": key }),
    },
    body: file ?? (body && JSON.stringify(body)),
    signal: AbortSignal.timeout(timeout),
  });
  const content = await response.json().catch(() => null);
  if (response.ok && content) return content;
  throw toError(response.status, content?.error);
}

async function send(address, options) {
  try {
    return await fetch(address, {
      ...options,
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
  } catch {
    throw new RequestError("off", OFF);
  }
}

function toError(status, error) {
  // An error without our fields comes from something else: a proxy whose server is off, or another program on that port.
  if (!error?.type) return new RequestError("off", `${OFF.slice(0, -1)}: another program responded (${status}).`);
  // A blocked URL has the same status as a bad token, but another token would not help.
  const kind = error.type === "BlockedAddress" ? "no" : (KINDS[status] ?? "no");
  return new RequestError(kind, error.message, error);
}

export const lookUp = async (url) => (await request("GET", `/items/lookup?url=${encodeURIComponent(url)}`, { timeout: SHORT_TIMEOUT })).item;
export const preview = async (page) => (await request("POST", "/extract", { body: page })).page;
export const save = async (page, key) => (await request("POST", "/saves", { body: page, key })).item;
export const retryItem = async (id) => (await request("POST", `/items/${encodeURIComponent(id)}/retry`, { body: {} })).item;
export const retag = async (id, tags) => (await request("PATCH", `/items/${encodeURIComponent(id)}`, { body: { tags } })).item;

const pictureQuery = (id, url) => `/pictures?${new URLSearchParams({ item: id, ...(url && { url }) })}`;
export const listPictures = async (id) => (await request("GET", pictureQuery(id))).pictures;
export const uploadPicture = async (id, url, file) => (await request("POST", pictureQuery(id, url), { file })).picture;

/** Return whether a Pagekeep server answers at this address. */
export async function isPagekeep(server) {
  try {
    const response = await send(`${server}/healthz`, { signal: AbortSignal.timeout(SHORT_TIMEOUT) });
    return response.ok && (await response.json()).status === "ok";
  } catch {
    return false;
  }
}

/** Exchange the code that the user confirmed on the server's page for a token. */
export async function exchangeCode(server, code, verifier) {
  const response = await send(`${server}/api/v1/tokens/pairing`, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: JSON.stringify({ code, verifier }),
    signal: AbortSignal.timeout(4 * SHORT_TIMEOUT),
  });
  const content = await response.json().catch(() => null);
  if (response.ok && content?.secret) return content;
  throw toError(response.status, content?.error);
}

/** Check that the server responds and accepts this token. */
export const testConnection = (as) => request("GET", "/items?limit=1", { as, timeout: 2 * SHORT_TIMEOUT });
