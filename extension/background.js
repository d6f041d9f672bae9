// The background worker: maps events of the browser and messages of the popup to one function each.
import { showResult } from "./lib/badge.js";
import { createMenus, runMenuEntry } from "./lib/menus.js";
import { continuePairing, showMissing, watchTab } from "./lib/pairing.js";
import * as queue from "./lib/queue.js";
import { openPopup, saveTab, saveWindow } from "./lib/save.js";
import { discard, retry, sendAll } from "./lib/sender.js";
import { retag, retryItem } from "./lib/server.js";
import { protectStorage } from "./lib/settings.js";

const ACTIONS = {
  save: async ({ tabId, method, tags, force }) => saveTab(await chrome.tabs.get(tabId), method, { tags, force }),
  open: async ({ tabId }) => openPopup(await chrome.tabs.get(tabId)),
  retag: ({ id, tags }) => retag(id, tags),
  waiting: () => queue.list(),
  retry: ({ number }) => retry(number),
  retryItem: ({ id }) => retryItem(id),
  discard: ({ number }) => discard(number),
  sendAll: () => sendAll({ all: true }),
  saveWindow: ({ windowId }) => saveWindow(windowId),
  pair: () => continuePairing(),
};

// Only our own pages may send messages: scripts in web pages, ours included, get no response.
const isOurs = (sender) => sender.id === chrome.runtime.id && Boolean(sender.url?.startsWith(chrome.runtime.getURL("")));

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  const action = isOurs(sender) && Object.hasOwn(ACTIONS, message?.act) ? ACTIONS[message.act] : null;
  if (!action) return false;
  action(message).then(
    (value) => respond({ value: value ?? null }),
    (error) => respond({ error: { message: error.message, type: error.type ?? null, kind: error.kind ?? null, suggestions: error.suggestions ?? [] } }),
  );
  return true; // respond later
});

/** Show a failure on the button, for saves without a popup. */
const orShowFailure = (tab, work) => work.catch(() => showResult(tab.id, { state: "refused" }));

chrome.commands.onCommand.addListener((command, tab) => {
  if (command === "save" && tab) orShowFailure(tab, saveTab(tab));
});
chrome.contextMenus.onClicked.addListener((info, tab) => {
  if (tab) orShowFailure(tab, runMenuEntry(info, tab));
});
chrome.runtime.onInstalled.addListener(({ reason }) => {
  createMenus();
  if (reason === "install") chrome.runtime.openOptionsPage();
});
// A popup closes while the browser asks for the permission, so it cannot continue itself.
chrome.permissions.onAdded.addListener(() => continuePairing().then(showMissing).catch(() => {}));
chrome.tabs.onUpdated.addListener((tabId, { url }) => watchTab(tabId, url).catch(() => {}));
chrome.runtime.onStartup.addListener(() => sendAll());
protectStorage();
