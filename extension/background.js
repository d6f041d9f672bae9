// The extension's worker: hears the browser and the popup, and calls one function for each.
import { became } from "./lib/badge.js";
import { chosen, keepTab, makeMenus } from "./lib/menus.js";
import { opened } from "./lib/opening.js";
import * as queue from "./lib/queue.js";
import { again, discard, sendAll } from "./lib/sending.js";
import { retag } from "./lib/server.js";
import { closeStore } from "./lib/settings.js";
import { keepWindow } from "./lib/tabs.js";

const ACTS = {
  save: async ({ tabId, method, tags, force }) => keepTab(await chrome.tabs.get(tabId), method, { tags, force }),
  open: async ({ tabId }) => opened(await chrome.tabs.get(tabId)),
  retag: ({ id, tags }) => retag(id, tags),
  waiting: () => queue.listed(),
  again: ({ number }) => again(number),
  discard: ({ number }) => discard(number),
  sendAll: () => sendAll({ all: true }),
  keepWindow: ({ windowId }) => keepWindow(windowId),
};

// Answers go to our own pages only: a script in a web page, ours or not, is told nothing and can ask for nothing.
const isOurs = (sender) => sender.id === chrome.runtime.id && Boolean(sender.url?.startsWith(chrome.runtime.getURL("")));

chrome.runtime.onMessage.addListener((message, sender, answer) => {
  const act = isOurs(sender) && Object.hasOwn(ACTS, message?.act) ? ACTS[message.act] : null;
  if (!act) return false;
  act(message).then(
    (value) => answer({ value: value ?? null }),
    (error) => answer({ error: { message: error.message, kind: error.kind ?? null, suggestions: error.suggestions ?? [] } }),
  );
  return true; // the answer comes later
});

/** Where nobody looks at a popup, the button says that it did not work. */
const orSay = (tab, work) => work.catch(() => became(tab.id, { state: "refused" }));

chrome.commands.onCommand.addListener((command, tab) => {
  if (command === "save" && tab) orSay(tab, keepTab(tab));
});
chrome.contextMenus.onClicked.addListener((info, tab) => {
  if (tab) orSay(tab, chosen(info, tab));
});
chrome.runtime.onInstalled.addListener(({ reason }) => {
  makeMenus();
  if (reason === "install") chrome.runtime.openOptionsPage();
});
chrome.runtime.onStartup.addListener(() => sendAll());
closeStore();
