// Shared by all pages of the reader: messages, forms sent in the background, adding pages, keyboard shortcuts and the service worker.
// Every form also works without this script.
"use strict";

const messages = document.getElementById("messages");
let clearTimer;

function showMessage(text) {
  const toast = document.createElement("div");
  toast.className = "toast";
  const words = document.createElement("p");
  words.textContent = text;
  toast.append(words);
  showToast(toast);
}

function showToast(...nodes) {
  messages.replaceChildren(...nodes);
  clearTimeout(clearTimer);
  clearTimer = setTimeout(() => messages.replaceChildren(), 9000);
}
if (messages.firstElementChild) clearTimer = setTimeout(() => messages.replaceChildren(), 12000);

// Requests to the server.

function parseHtml(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

/** Send a request and return the response; throw an Error with a readable message if it fails. */
async function request(address, options = {}) {
  let response;
  try {
    response = await fetch(address, { ...options, headers: { "X-Part": "1", ...options.headers } });
  } catch {
    throw new Error("No connection. Try again when you are online.");
  }
  if (response.status === 401) location.assign("/sign-in");
  if (!response.ok) throw new Error(await errorMessage(response));
  return response;
}

/** Request part of a page and return its parsed nodes. */
async function fetchPart(address, options) {
  return parseHtml(await (await request(address, options)).text());
}

async function errorMessage(response) {
  try {
    return (await response.json()).error.message.replaceAll("`", "");
  } catch {
    return `The server returned an error (${response.status}).`;
  }
}

function csrfHeaders() {
  return document.body.dataset.csrf ? { "X-CSRF-Token": document.body.dataset.csrf } : {};
}

function formData(form, button) {
  const data = new FormData(form);
  if (button && button.name) data.set(button.name, button.value);
  return data;
}

// Pin, archive, delete: done without leaving the page, with undo.

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!button?.hasAttribute("formaction") && ("quick" in form.dataset || "undo" in form.dataset)) {
    event.preventDefault();
    await runAction(form, button);
  } else if ("slow" in form.dataset) {
    for (const each of form.querySelectorAll("button")) each.setAttribute("aria-disabled", "true");
    showMessage("Fetching the page again…");
  }
});

async function runAction(form, button) {
  const data = formData(form, button);
  try {
    const toast = await fetchPart(form.getAttribute("action"), { method: "POST", body: data, headers: csrfHeaders() });
    const acted = toast.querySelector("[data-undo]")?.dataset.undo ?? "";
    document.dispatchEvent(new CustomEvent("pagekeep:done", { detail: { form, action: button.value, ids: data.getAll("ids"), acted } }));
    showToast(...toast.children);
  } catch (error) {
    showMessage(error.message);
  }
}

// Places in articles that the server has not confirmed: kept on this device, and sent again from the next page. The server takes the
// newest, so sending one twice does no harm.

const UNSENT = "pagekeep:unsent";
const MAX_UNSENT = 50;

function unsentPlaces() {
  try {
    return JSON.parse(localStorage.getItem(UNSENT)) ?? {};
  } catch {
    return {};
  }
}

function keepUnsent(places) {
  try {
    localStorage.setItem(UNSENT, JSON.stringify(Object.fromEntries(Object.entries(places).slice(-MAX_UNSENT))));
  } catch { /* storage is blocked: it is sent once */ }
}

/** Send the place in an article; `leaving` for a page that ends now and cannot wait for the response. */
async function sendPlace(itemId, place, leaving = false) {
  keepUnsent({ ...unsentPlaces(), [itemId]: place });
  const address = `/items/${encodeURIComponent(itemId)}/reading`;
  const data = new FormData();
  for (const [name, value] of Object.entries(place)) data.set(name, value);
  if (document.body.dataset.csrf) data.set("csrf_token", document.body.dataset.csrf);
  if (leaving) {
    navigator.sendBeacon(address, data);
    return;
  }
  try {
    const { ok, status } = await fetch(address, { method: "POST", body: data, keepalive: true, headers: { "X-Part": "1" } });
    if (!ok && ![403, 404, 422].includes(status)) return; // these do not go away by sending again
    const { [itemId]: sent, ...others } = unsentPlaces();
    if (sent?.at === place.at) keepUnsent(others);
  } catch { /* no connection: it is sent again later */ }
}

function sendUnsent() {
  for (const [itemId, place] of Object.entries(unsentPlaces())) sendPlace(itemId, place);
}
addEventListener("online", sendUnsent);
sendUnsent();

// Saving pages, with progress.

const saving = document.getElementById("saving");

/** Add a row to the list of pages being saved; return functions that update it. */
function addSavingRow(name, note = "") {
  const row = document.createElement("li");
  const spinner = document.createElement("span");
  spinner.className = "spinner";
  const title = document.createElement("a");
  title.className = "name";
  title.dir = "auto";
  title.textContent = name;
  const stage = document.createElement("span");
  stage.className = "stage";
  stage.textContent = "Waiting";
  row.append(spinner, title, stage);
  if (note) {
    const urlNote = document.createElement("span");
    urlNote.className = "url-note";
    urlNote.textContent = note;
    row.append(urlNote);
  }
  if (saving) saving.prepend(row);
  return {
    stage: (text) => { stage.textContent = text; },
    done(item) {
      row.className = "done";
      title.href = `/items/${item.id}`;
      title.textContent = item.title;
      const words = item.quality === "bookmark" ? "Saved as a bookmark" : "Saved";
      stage.textContent = item.reading_time && item.quality !== "bookmark" ? `${words} · ${item.reading_time}` : words;
      if (!saving) showMessage(`${words}: ${item.title}`);
      document.dispatchEvent(new CustomEvent("pagekeep:saved", { detail: { item, row } }));
    },
    /** Show why it failed; `item` keeps the address, if there is one. */
    failed(text, item = null) {
      row.className = "failed";
      stage.textContent = item && item.failed ? `Could not be saved: ${text}` : text;
      if (item) title.href = `/items/${item.id}`;
      if (!saving) showMessage(stage.textContent);
    },
  };
}

function watchJob(job, row) {
  return new Promise((resolve) => {
    const events = new EventSource(`/api/v1/jobs/${job.id}/events`);
    const end = (act) => (event) => {
      events.close();
      act(JSON.parse(event.data));
      resolve();
    };
    events.addEventListener("stage", (event) => row.stage(JSON.parse(event.data).stage));
    events.addEventListener("done", end(({ item }) => (item ? row.done(item) : row.failed("This page was deleted."))));
    events.addEventListener("failed", end(({ job: ended, item }) => row.failed(ended.error ? ended.error.message : "Saving failed.", item)));
  });
}

/** Save all URLs in the text; the server decides which lines are URLs. Return the lines that need correction. */
async function saveUrls(text, tags = []) {
  const data = new FormData();
  data.set("urls", text);
  data.set("tags", tags.join(","));
  try {
    const result = await (await request("/add", { method: "POST", body: data, headers: csrfHeaders() })).json();
    for (const { line: name, url, job } of result.queued) watchJob(job, addSavingRow(url, name === url ? "" : `${name} was read as ${url}.`));
    for (const { line: name, error } of result.rejected) addSavingRow(name).failed(error); // last, so that they are on top
    return result.remaining;
  } catch (error) {
    addSavingRow(text.trim().split("\n")[0]).failed(error.message);
    return [text];
  }
}

// Check the size before sending: a server that rejects a large upload closes the connection, and browsers then show no response.
function sizeError(file, maxBytes) {
  const megabytes = (bytes) => `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;
  return file.size > maxBytes ? `The file is too large (${megabytes(file.size)}). The limit is ${megabytes(maxBytes)}.` : "";
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches?.("input[type=file][data-max-bytes]")) return;
  const [file] = target.files;
  target.setCustomValidity(file ? sizeError(file, Number(target.dataset.maxBytes)) : "");
  target.reportValidity();
});

async function saveFile(file, tags = []) {
  const row = addSavingRow(file.name);
  const tooLarge = sizeError(file, Number(document.body.dataset.maxBytes));
  if (tooLarge) {
    row.failed(tooLarge);
    return;
  }
  row.stage("Reading the file");
  try {
    const data = new FormData();
    data.set("pages", file);
    data.set("tags", tags.join(","));
    const { items: [item] } = await (await request("/add", { method: "POST", body: data, headers: csrfHeaders() })).json();
    row.done(item);
  } catch (error) {
    row.failed(error.message);
  }
}

function findUrls(text) {
  return text.split(/\s+/).filter((word) => /^https?:\/\//i.test(word));
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!("add" in form.dataset) || !window.EventSource) return;
  const { urls, pages, tags: named } = form.elements;
  const text = urls.value;
  const files = [...(pages?.files ?? [])];
  if (!text.trim() && !files.length) return;
  event.preventDefault();
  const tags = (named?.value ?? "").split(",").map((tag) => tag.trim()).filter(Boolean);
  form.reset();
  urls.value = "";
  for (const old of document.querySelectorAll(".saving .failed")) old.remove();
  for (const file of files) saveFile(file, tags);
  if (!text.trim()) return;
  const remaining = await saveUrls(text, tags);
  const typed = urls.value.trim(); // typed while the request was running
  urls.value = [...remaining, ...(typed ? [typed] : [])].join(urls.type === "textarea" ? "\n" : " ");
  if (remaining.length && named) named.value ||= tags.join(", ");
});

// Links and files dropped anywhere on the page.

const drop = document.getElementById("drop");
if (drop) {
  const accepts = (event) => [...event.dataTransfer.types].some((type) => ["text/uri-list", "Files"].includes(type)) && !within;
  let within = false;
  document.addEventListener("dragstart", () => { within = true; });
  document.addEventListener("dragend", () => { within = false; });
  document.addEventListener("dragover", (event) => {
    if (!accepts(event)) return;
    event.preventDefault();
    drop.classList.add("on");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.classList.remove("on");
  });
  document.addEventListener("drop", (event) => {
    if (!accepts(event)) return;
    event.preventDefault();
    drop.classList.remove("on");
    const listed = event.dataTransfer.getData("text/uri-list") || event.dataTransfer.getData("text/plain");
    const files = [...event.dataTransfer.files];
    for (const file of files) saveFile(file);
    const urls = files.length ? [] : findUrls(listed);
    if (urls.length) saveUrls(urls.join("\n"));
  });
}

// Hide images that fail to load.
document.addEventListener("error", (event) => {
  if (event.target.matches?.(".thumb img")) event.target.closest(".thumb").hidden = true;
  else if (event.target.matches?.(".content img")) event.target.classList.add("missing");
}, true);

// Keyboard shortcuts. Each page adds its own.

const help = document.getElementById("keys");
const keys = {
  "/": () => document.querySelector(".find input")?.focus(),
  a: () => location.assign("/add"),
  g: () => location.assign("/"),
  t: () => showMessage(`Theme: ${appearance.step("theme", 1, true)}`),
  "?": () => (help.open ? help.close() : help.showModal()),
  z: () => document.querySelector("[data-undo] button, .toast form button")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const at = event.target;
  if (event.key === "Escape" && at.matches?.(".find input")) at.blur();
  if (at.isContentEditable || at.matches?.("input:not([type=checkbox], [type=radio]), textarea, select")) return;
  const act = keys[event.key];
  if (!act || (document.querySelector("dialog[open]") && !(help.open && event.key === "?"))) return;
  event.preventDefault();
  act(event);
});

for (const button of document.querySelectorAll("[data-open-dialog]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.openDialog).showModal());
}

// Close menus on a click elsewhere and on Escape.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details:is(.menu, .badge)[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details:is(.menu, .badge)[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

for (const form of document.querySelectorAll("form.appearance")) {
  form.addEventListener("change", (event) => appearance.set(event.target.name, event.target.value));
}

// On small screens some menus are rows that scroll: show the current line.
for (const line of document.querySelectorAll(".states [aria-current], .settings-nav [aria-current]")) {
  if (line.parentElement.closest("ul, nav").scrollWidth > innerWidth) line.scrollIntoView({ block: "nearest", inline: "center", behavior: "instant" });
}

// Offline pages: the service worker keeps what was opened, and on touch screens and in the installed app the last pages saved.
async function startWorker() {
  await navigator.serviceWorker.register("/service-worker.js");
  const { active } = await navigator.serviceWorker.ready;
  const { shelf } = document.body.dataset;
  const onPhone = matchMedia("(pointer: coarse), (display-mode: standalone)").matches && !navigator.connection?.saveData;
  if (shelf) active.postMessage({ user: shelf, fill: onPhone && location.pathname === "/" });
  else if (location.pathname === "/sign-in") active.postMessage("forget"); // the session has ended
}
if ("serviceWorker" in navigator) startWorker().catch(() => {});
// Remove this user's offline pages when they sign out.
for (const form of document.querySelectorAll('form[action="/sign-out"]')) {
  form.addEventListener("submit", () => {
    navigator.serviceWorker?.controller?.postMessage("forget");
    keepUnsent({});
  });
}
