// The options page: connects to a server by one click, or by its address and a token, saved only after the server accepted them.
import { requestPairing, takeOutcome } from "../lib/pairing.js";
import { testConnection } from "../lib/server.js";
import { isUnencrypted, parseOrigin, permissionPattern, readSettings, writeSettings } from "../lib/settings.js";

const byId = (id) => document.getElementById(id);

async function showSettings() {
  const saved = await readSettings();
  byId("server").value = saved.server;
  byId("token").value = saved.token;
  byId("saveOnClick").checked = saved.saveOnClick;
  byId("setup").hidden = Boolean(saved.token);
  byId("connected").hidden = !saved.token;
  byId("reader").href = saved.server;
  byId("reader").textContent = saved.server;
}

function showMessage(text, level) {
  byId("message").textContent = text;
  byId("message").dataset.level = level;
}
const showError = (error) => showMessage([error.message, ...(error.suggestions ?? [])].join(" "), "problem");

function showNothing(server) {
  showMessage(`No Pagekeep server answers at ${server}. Start it, or enter the address of another one.`, "problem");
  byId("manual").open = true;
}

const WARNING = "Warning: the connection is not encrypted, so others can read your pages and the token. Use https.";

/** Show how connecting ended, if this page was opened for that. */
async function showOutcome() {
  const { server } = await readSettings();
  const { connected, failed, missing } = await takeOutcome();
  if (failed) showMessage(failed, "problem");
  if (missing) showNothing(missing);
  if (!connected) return;
  showMessage(isUnencrypted(server) ? `Connected. ${WARNING}` : "Connected.", "good");
  await chrome.runtime.sendMessage({ act: "sendAll" });
}

async function connect(server) {
  await requestPairing(server);
  const response = await chrome.runtime.sendMessage({ act: "pair" });
  if (response.error) throw new Error(response.error.message);
  if (response.value) showNothing(response.value);
}

const start = (server) => connect(server).catch(showError);
byId("connect").addEventListener("click", () => start(parseOrigin(byId("server").value)));
byId("again").addEventListener("click", () => start(parseOrigin(byId("server").value)));
byId("connectThere").addEventListener("click", () => {
  try {
    start(parseOrigin(byId("server").value));
  } catch (error) {
    showError(error);
  }
});
byId("saveOnClick").addEventListener("change", () => writeSettings({ saveOnClick: byId("saveOnClick").checked }));
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  testAndSave().catch(showError);
});

async function testAndSave() {
  const server = parseOrigin(byId("server").value);
  const token = byId("token").value.trim();
  // First, because browsers show the permission prompt only right after a click.
  if (!(await chrome.permissions.request({ origins: [permissionPattern(server)] }))) throw new Error("Pagekeep needs permission to connect to the server.");
  showMessage("Connecting…", "busy");
  await testConnection({ server, token });
  const before = await readSettings();
  await writeSettings({ server, token });
  await dropOldPermission(before.server, server);
  await showSettings();
  showMessage(isUnencrypted(server) ? `Saved. ${WARNING}` : "Saved. The connection works.", "good");
  await chrome.runtime.sendMessage({ act: "sendAll" });
}

/** Give back the permission for a server that is no longer used. */
async function dropOldPermission(before, now) {
  if (permissionPattern(before) !== permissionPattern(now)) await chrome.permissions.remove({ origins: [permissionPattern(before)] }).catch(() => {});
}

await showSettings();
await showOutcome();
