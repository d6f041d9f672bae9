// The options page: the server's address and token, saved only after the server accepted them.
import { testConnection } from "../lib/server.js";
import { isUnencrypted, parseOrigin, permissionPattern, readSettings, writeSettings } from "../lib/settings.js";

const byId = (id) => document.getElementById(id);
const saved = await readSettings();
byId("server").value = saved.server;
byId("token").value = saved.token;
byId("saveOnClick").checked = saved.saveOnClick;

function showMessage(text, level) {
  byId("message").textContent = text;
  byId("message").dataset.level = level;
}

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  testAndSave().catch((error) => showMessage([error.message, ...(error.suggestions ?? [])].join(" "), "problem"));
});

async function testAndSave() {
  const server = parseOrigin(byId("server").value);
  const token = byId("token").value.trim();
  // First, because browsers show the permission prompt only right after a click.
  if (!(await chrome.permissions.request({ origins: [permissionPattern(server)] }))) throw new Error("Pagekeep needs permission to connect to the server.");
  showMessage("Connecting…", "busy");
  await testConnection({ server, token });
  const before = await readSettings();
  await writeSettings({ server, token, saveOnClick: byId("saveOnClick").checked });
  byId("server").value = server;
  await dropOldPermission(before.server, server);
  showMessage(isUnencrypted(server) ? "Saved. Warning: the connection is not encrypted, so others can read your pages and the token. Use https." : "Saved. The connection works.", "good");
  await chrome.runtime.sendMessage({ act: "sendAll" });
}

/** Give back the permission for a server that is no longer used. */
async function dropOldPermission(before, now) {
  if (permissionPattern(before) !== permissionPattern(now)) await chrome.permissions.remove({ origins: [permissionPattern(before)] }).catch(() => {});
}
