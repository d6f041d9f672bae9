// The options: where the server is and the token for it, kept only once the server has taken it.
import { greet } from "../lib/server.js";
import { isReadable, keepSettings, originOf, patternOf, settings } from "../lib/settings.js";

const at = (id) => document.getElementById(id);
const kept = await settings();
at("server").value = kept.server;
at("token").value = kept.token;
at("saveOnClick").checked = kept.saveOnClick;

function say(text, level) {
  at("said").textContent = text;
  at("said").dataset.level = level;
}

at("form").addEventListener("submit", (event) => {
  event.preventDefault();
  tested().catch((error) => say([error.message, ...(error.suggestions ?? [])].join(" "), "problem"));
});

async function tested() {
  const server = originOf(at("server").value);
  const token = at("token").value.trim();
  // First of all: browsers ask for leave only in answer to a click.
  if (!(await chrome.permissions.request({ origins: [patternOf(server)] }))) throw new Error("Without leave to reach the server nothing can be saved.");
  say("Asking the server…", "busy");
  await greet({ server, token });
  const before = await settings();
  await keepSettings({ server, token, saveOnClick: at("saveOnClick").checked });
  at("server").value = server;
  await forget(before.server, server);
  say(isReadable(server) ? "It works. But others on the way can read what is sent, the token included: use https." : "It works.", "good");
  await chrome.runtime.sendMessage({ act: "sendAll" });
}

/** Leave to reach a server that is used no more is given back. */
async function forget(before, now) {
  if (patternOf(before) !== patternOf(now)) await chrome.permissions.remove({ origins: [patternOf(before)] }).catch(() => {});
}
