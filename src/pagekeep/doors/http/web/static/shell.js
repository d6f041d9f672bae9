// What all pages share: messages, quick forms, adding pages, keys, the service worker. Everything here is a convenience:
// without it the same forms work, one page after the other.
"use strict";

const told = document.getElementById("told");
let fading;

function tell(text) {
  const toast = document.createElement("div");
  toast.className = "toast";
  const words = document.createElement("p");
  words.textContent = text;
  toast.append(words);
  show(toast);
}

function show(...nodes) {
  told.replaceChildren(...nodes);
  clearTimeout(fading);
  fading = setTimeout(() => told.replaceChildren(), 9000);
}
if (told.firstElementChild) fading = setTimeout(() => told.replaceChildren(), 12000);

// Parts of pages that the server sends.

function nodesOf(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

/** The server's answer; an error in words a person understands where there is none, or a bad one. */
async function ask(address, options = {}) {
  let answer;
  try {
    answer = await fetch(address, { ...options, headers: { "X-Part": "1", ...options.headers } });
  } catch {
    throw new Error("No connection. Try again when you are online.");
  }
  if (answer.status === 401) location.assign("/sign-in");
  if (!answer.ok) throw new Error(await failure(answer));
  return answer;
}

async function part(address, options) {
  return nodesOf(await (await ask(address, options)).text());
}

async function failure(answer) {
  try {
    return (await answer.json()).error.message;
  } catch {
    return `The server answered with ${answer.status}.`;
  }
}

function csrf() {
  return document.body.dataset.csrf ? { "X-CSRF-Token": document.body.dataset.csrf } : {};
}

function filled(form, button) {
  const data = new FormData(form);
  if (button && button.name) data.set(button.name, button.value);
  return data;
}

// Pin, archive, delete: done in place, with a way back.

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const button = event.submitter;
  if ("quick" in form.dataset || "undo" in form.dataset) {
    event.preventDefault();
    await quick(form, button);
  } else if ("waits" in form.dataset) {
    for (const each of form.querySelectorAll("button")) each.setAttribute("aria-disabled", "true");
    tell("Fetching the page anew…");
  }
});

async function quick(form, button) {
  const data = filled(form, button);
  try {
    const said = await part("/items", { method: "POST", body: data, headers: csrf() });
    document.dispatchEvent(new CustomEvent("pagekeep:done", { detail: { form, action: button.value, ids: data.getAll("ids") } }));
    show(...said.children);
  } catch (error) {
    tell(error.message);
  }
}

// Saving, with what is being done meanwhile.

const saving = document.getElementById("saving");

function line(name, note = "") {
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
    const said = document.createElement("span");
    said.className = "taken";
    said.textContent = note;
    row.append(said);
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
      if (!saving) tell(`${words}: ${item.title}`);
      document.dispatchEvent(new CustomEvent("pagekeep:saved", { detail: { item, row } }));
    },
    failed(text) {
      row.className = "failed";
      stage.textContent = text;
      if (!saving) tell(text);
    },
  };
}

function watch(job, row) {
  return new Promise((settled) => {
    const events = new EventSource(`/api/v1/jobs/${job.id}/events`);
    const end = (act) => (event) => {
      events.close();
      act(JSON.parse(event.data));
      settled();
    };
    events.addEventListener("stage", (event) => row.stage(JSON.parse(event.data).stage));
    events.addEventListener("done", end(({ item }) => (item ? row.done(item) : row.failed("It is no longer there."))));
    events.addEventListener("failed", end(({ job: ended }) => row.failed(ended.error ? ended.error.message : "It failed.")));
  });
}

/** All that is typed or pasted: the server tells which lines are addresses. Gives back what is left to mend. */
async function saveAddresses(text, tags = []) {
  const data = new FormData();
  data.set("urls", text);
  data.set("tags", tags.join(","));
  try {
    const answer = await (await ask("/add", { method: "POST", body: data, headers: csrf() })).json();
    for (const { line: name, url, job } of answer.taken) watch(job, line(url, name === url ? "" : `${name} is taken as ${url}.`));
    for (const { line: name, error } of answer.refused) line(name).failed(error); // last: they are to stand on top
    return answer.left;
  } catch (error) {
    line(text.trim().split("\n")[0]).failed(error.message);
    return [text];
  }
}

// A server that refuses a large file closes the connection while it is still being sent, and browsers then show no answer.
function tooLarge(file, most) {
  const megabytes = (bytes) => `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;
  return file.size > most ? `The file has ${megabytes(file.size)}: the server takes ${megabytes(most)} at most.` : "";
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches?.("input[type=file][data-most]")) return;
  const [file] = target.files;
  target.setCustomValidity(file ? tooLarge(file, Number(target.dataset.most)) : "");
  target.reportValidity();
});

async function saveFile(file, tags = []) {
  const row = line(file.name);
  const refusal = tooLarge(file, Number(document.body.dataset.most));
  if (refusal) {
    row.failed(refusal);
    return;
  }
  row.stage("Reading the file");
  try {
    const data = new FormData();
    data.set("pages", file);
    data.set("tags", tags.join(","));
    const { items: [item] } = await (await ask("/add", { method: "POST", body: data, headers: csrf() })).json();
    row.done(item);
  } catch (error) {
    row.failed(error.message);
  }
}

function addressesIn(text) {
  return text.split(/\s+/).filter((word) => /^https?:\/\//i.test(word));
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!("adds" in form.dataset) || !window.EventSource) return;
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
  const left = await saveAddresses(text, tags);
  const typed = urls.value.trim(); // meanwhile
  urls.value = [...left, ...(typed ? [typed] : [])].join(urls.type === "textarea" ? "\n" : " ");
  if (left.length && named) named.value ||= tags.join(", ");
});

// Links and files that are dropped anywhere.

const drop = document.getElementById("drop");
if (drop) {
  const takes = (event) => [...event.dataTransfer.types].some((type) => ["text/uri-list", "Files"].includes(type)) && !within;
  let within = false;
  document.addEventListener("dragstart", () => { within = true; });
  document.addEventListener("dragend", () => { within = false; });
  document.addEventListener("dragover", (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    drop.classList.add("on");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.classList.remove("on");
  });
  document.addEventListener("drop", (event) => {
    if (!takes(event)) return;
    event.preventDefault();
    drop.classList.remove("on");
    const listed = event.dataTransfer.getData("text/uri-list") || event.dataTransfer.getData("text/plain");
    const files = [...event.dataTransfer.files];
    for (const file of files) saveFile(file);
    const urls = files.length ? [] : addressesIn(listed);
    if (urls.length) saveAddresses(urls.join("\n"));
  });
}

// A picture that cannot be had leaves no hole.
document.addEventListener("error", (event) => {
  if (event.target.matches?.(".thumb img")) event.target.closest(".thumb").hidden = true;
  else if (event.target.matches?.(".content img")) event.target.classList.add("missing");
}, true);

// Keys. A page adds its own to these.

const help = document.getElementById("keys");
const keys = {
  "/": () => document.querySelector(".find input")?.focus(),
  a: () => location.assign("/add"),
  g: () => location.assign("/"),
  t: () => tell(`Theme: ${look.step("theme", 1, true)}`),
  "?": () => (help.open ? help.close() : help.showModal()),
  z: () => document.querySelector("[data-undo] button")?.click(),
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

for (const button of document.querySelectorAll("[data-opens]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
}

// Menus close when something else is clicked, and by Escape.
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

for (const form of document.querySelectorAll("form.look")) {
  form.addEventListener("change", (event) => look.set(event.target.name, event.target.value));
}

if ("serviceWorker" in navigator) navigator.serviceWorker.register("/service-worker.js").catch(() => {});
// Nothing of one reader is left to the next.
for (const form of document.querySelectorAll('form[action="/sign-out"]')) {
  form.addEventListener("submit", () => navigator.serviceWorker?.controller?.postMessage("forget"));
}
