// From the queue to the server, one page after the other.
import { waiting } from "./badge.js";
import * as queue from "./queue.js";
import { save } from "./server.js";
import { after, isDue } from "./trouble.js";

const ALARM = "send";
const MINUTE = 60_000;
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

/** Sends what waits and is due, or with `all` what is not due yet as well; ends at the first page that finds no server. */
export async function sendAll({ all = false } = {}) {
  for (const number of await queue.numbers()) {
    const became = await inTurn(() => send(number, { refused: false, early: all }));
    if (became?.state === "waits" && became.error.kind !== "busy") break;
  }
  await rest();
}

async function send(number, { refused = true, early = true } = {}) {
  const entry = await queue.get(number);
  if (!entry || (entry.refused && !refused) || !(early || isDue(entry.trouble))) return null;
  try {
    const item = await save(entry.page, entry.key);
    await queue.drop(number);
    return { state: "saved", item, page: told(entry.page) };
  } catch (error) {
    const why = { kind: error.kind ?? "off", type: error.type ?? null, message: error.message, suggestions: error.suggestions ?? [] };
    return { state: await noted(entry, why), error: why, number, page: told(entry.page) };
  }
}

/** Whether the page waits on, or its user has to decide. A server that is off keeps it waiting, however long. */
async function noted({ number, trouble }, why) {
  const next = why.kind === "busy" ? after(trouble, why.message) : null;
  const refused = why.kind === "no" ? why.message : next?.givenUp;
  if (refused) await queue.refuse(number, refused);
  else if (next) await queue.note(number, { trouble: next });
  return refused ? "refused" : "waits";
}

/** How it was sent. */
const told = (page) => ({ url: page.url, sent: page.html !== undefined, selected: Boolean(page.selection) });

/** While something waits, it is tried when it is due, and every minute where no server was found; then the browser may sleep. */
async function rest() {
  const all = await queue.listed();
  const left = all.filter((entry) => !entry.refused);
  await waiting(left.length, all.length - left.length);
  if (!left.length) return void (await chrome.alarms.clear(ALARM));
  const due = Math.min(...left.map(({ trouble }) => trouble?.due ?? 0));
  const minutes = Math.max(1, (due - Date.now()) / MINUTE);
  await chrome.alarms.create(ALARM, { delayInMinutes: minutes, periodInMinutes: minutes });
}

/** Asks again for one that was refused. */
export async function again(number) {
  await queue.allow(number);
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
