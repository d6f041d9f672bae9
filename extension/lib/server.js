// Asks the server. Only here is the token used: it goes to the server's own origin, and nowhere a redirect leads.
import { settings } from "./settings.js";

const PATIENCE = 120_000;
const HASTE = 5_000; // for what others wait for: a page is not kept before it is known whether it is there

/** The server said no, or nothing. `kind`: off (not there), stranger (the token), busy, no (this request will never do). */
export class Refused extends Error {
  constructor(kind, message, { type = null, suggestions = [] } = {}) {
    super(message);
    this.kind = kind;
    this.type = type;
    this.suggestions = suggestions;
  }
}

const OFF = "The server cannot be reached.";
const KINDS = { 401: "stranger", 403: "stranger", 408: "busy", 409: "busy", 429: "busy", 500: "busy", 503: "busy" };

/** What the server answers, as an object; `Refused` otherwise. `as` is a server and token that are not kept yet. */
export async function ask(method, path, { body, key, as, patience = PATIENCE } = {}) {
  const { server, token } = as ?? (await settings());
  if (!token) throw new Refused("stranger", "There is no token yet.", { suggestions: ["Set one in the options."] });
  const response = await sent(`${server}/api/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: "application/json",
      ...(body && { "Content-Type": "application/json" }),
      ...(key && { "Idempotency-Key": key }),
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(patience),
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  throw refusal(response.status, answer?.error);
}

async function sent(address, request) {
  try {
    return await fetch(address, {
      ...request,
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
  } catch {
    throw new Refused("off", OFF);
  }
}

function refusal(status, error) {
  // Without an error of ours something else answered: a proxy whose server is off, or another program at that port.
  if (!error?.type) return new Refused("off", `${OFF.slice(0, -1)}: something else answered (${status}).`);
  // A page that may not be fetched is refused like a stranger; nothing about the token would change that.
  const kind = error.type === "BlockedAddress" ? "no" : (KINDS[status] ?? "no");
  return new Refused(kind, error.message, error);
}

export const lookUp = async (url) => (await ask("GET", `/items/lookup?url=${encodeURIComponent(url)}`, { patience: HASTE })).item;
export const preview = async (page) => (await ask("POST", "/extract", { body: page })).page;
export const save = async (page, key) => (await ask("POST", "/saves", { body: page, key })).item;
export const retag = async (id, tags) => (await ask("PATCH", `/items/${encodeURIComponent(id)}`, { body: { tags } })).item;

/** Whether a server is there and takes this token. */
export const greet = (as) => ask("GET", "/items?limit=1", { as, patience: 2 * HASTE });
