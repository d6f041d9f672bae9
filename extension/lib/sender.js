// Sends pages from the queue to the server, one at a time.
import { showQueueSize } from "./badge.js";
import * as queue from "./queue.js";
import { save } from "./server.js";

const ALARM = "send";
const MINUTE = 60_000;
const MAX_PAUSE = 60 * MINUTE;
const GIVE_UP_AFTER = 24 * 60 * MINUTE;
let lastSend = Promise.resolve();

/** Run one send at a time: each waits for the one before. */
function runInOrder(send) {
  const current = lastSend.then(send);
  lastSend = current.catch(() => {});
  return current;
}

/** Put a page into the queue, where it cannot get lost, and try to send it at once. Return the result. */
export async function sendPage(page, title) {
  const { number } = await queue.put(page, title);
  const result = await runInOrder(() => send(number));
  await updateAlarm();
  return result;
}

/** Send the waiting pages that are due, or with `all` every waiting page; stop at the first one that finds no server. */
export async function sendAll({ all = false } = {}) {
  for (const number of await queue.numbers()) {
    const result = await runInOrder(() => send(number, { refused: false, early: all }));
    if (result?.state === "waits" && result.error.kind !== "busy") break;
  }
  await updateAlarm();
}

async function send(number, { refused = true, early = true } = {}) {
  const entry = await queue.get(number);
  if (!entry || (entry.refused && !refused) || !(early || isDue(entry.trouble))) return null;
  const page = { url: entry.page.url, sent: (entry.page.html ?? entry.page.file) !== undefined, selected: Boolean(entry.page.selection) };
  try {
    const item = await save(entry.page, entry.key);
    await queue.drop(number);
    return { state: "saved", item, page };
  } catch ({ kind = "off", type = null, message, suggestions = [], itemId = null }) {
    const error = { kind, type, message, suggestions };
    if (itemId && !page.sent) {
      await queue.drop(number); // the server keeps the URL, and there is nothing else to send
      return { state: "bookmarked", error, itemId, page };
    }
    return { state: await recordFailure(entry, error), error, number, page };
  }
}

/** Record the failure; return whether the page still waits or is refused. It waits as long as the server is off. */
async function recordFailure({ number, trouble }, { kind, message }) {
  const next = kind === "busy" ? nextTrouble(trouble, message) : null;
  const refused = kind === "no" ? message : next?.givenUp;
  if (refused) await queue.refuse(number, refused);
  else if (next) await queue.update(number, { trouble: next });
  return refused ? "refused" : "waits";
}

/** Return when to retry after a server error, doubling the pause each time; after a day, the reason for giving up. */
function nextTrouble(trouble, message, now = Date.now()) {
  const since = trouble?.since ?? now;
  const tries = (trouble?.tries ?? 0) + 1;
  if (now - since >= GIVE_UP_AFTER) return { givenUp: `The server failed for a day. Last error: ${message}` };
  return { since, tries, message, due: now + Math.min(MAX_PAUSE, MINUTE * 2 ** (tries - 1)) };
}

const isDue = (trouble, now = Date.now()) => !trouble || trouble.due <= now;

/** Update the badge, and set the alarm for the next attempt: when a page is due, or every minute while no server responds. */
async function updateAlarm() {
  const all = await queue.list();
  const waiting = all.filter((entry) => !entry.refused);
  await showQueueSize(waiting.length, all.length - waiting.length);
  if (!waiting.length) return void (await chrome.alarms.clear(ALARM));
  const due = Math.min(...waiting.map(({ trouble }) => trouble?.due ?? 0));
  const minutes = Math.max(1, (due - Date.now()) / MINUTE);
  await chrome.alarms.create(ALARM, { delayInMinutes: minutes, periodInMinutes: minutes });
}

/** Send a refused page again. */
export async function retry(number) {
  await queue.allow(number);
  const result = await runInOrder(() => send(number));
  await updateAlarm();
  return result;
}

export async function discard(number) {
  await queue.drop(number);
  await updateAlarm();
}

chrome.alarms.onAlarm.addListener((alarm) => {
  if (alarm.name === ALARM) sendAll();
});
