// From the queue to the server, one page after the other.
import { waiting } from "./badge.js";
import * as queue from "./queue.js";
import { save } from "./server.js";

const ALARM = "send";
let turn = Promise.resolve();

/** One sender at a time: the next waits for the one before. */
function inTurn(act) {
  const mine = turn.then(act);
  turn = mine.catch(() => {});
  return mine;
}

/** Puts a page into the queue, which is as good as saved, and sends it at once if that can be. Gives what became of it. */
export async function keep(page, title) {
  const { number } = await queue.put(page, title);
  const became = await inTurn(() => send(number));
  await rest();
  return became;
}

/** Sends what waits; ends at the first page that finds no server. */
export async function sendAll() {
  for (const number of await queue.numbers()) {
    const became = await inTurn(() => send(number, { refused: false }));
    if (became?.state === "waits" && became.error.kind !== "busy") break;
  }
  await rest();
}

async function send(number, { refused = true } = {}) {
  const entry = await queue.get(number);
  if (!entry || (entry.refused && !refused)) return null;
  try {
    const item = await save(entry.page, entry.key);
    await queue.drop(number);
    return { state: "saved", item, page: told(entry.page) };
  } catch (error) {
    const why = { kind: error.kind ?? "off", type: error.type ?? null, message: error.message, suggestions: error.suggestions ?? [] };
    if (why.kind === "no") await queue.mark(number, why.message);
    return { state: why.kind === "no" ? "refused" : "waits", error: why, number, page: told(entry.page) };
  }
}

/** How it was sent. */
const told = (page) => ({ url: page.url, sent: page.html !== undefined, selected: Boolean(page.selection) });

/** While something waits, it is tried every minute; once nothing does, the browser may sleep. */
async function rest() {
  const left = (await queue.listed()).filter((entry) => !entry.refused).length;
  await waiting(left);
  if (left) await chrome.alarms.create(ALARM, { periodInMinutes: 1 });
  else await chrome.alarms.clear(ALARM);
}

/** Asks again for one that was refused. */
export async function again(number) {
  await queue.mark(number, null);
  const became = await inTurn(() => send(number));
  await rest();
  return became;
}

export async function discard(number) {
  await queue.drop(number);
  await rest();
}

chrome.alarms.onAlarm.addListener((alarm) => {
  if (alarm.name === ALARM) sendAll();
});
