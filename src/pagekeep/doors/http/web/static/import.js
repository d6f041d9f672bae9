// Import with progress: the file is sent as the body of a request, and the job that reads it reports each step.
// Without this script the form does the same, and its answer comes at the end.
"use strict";

const importForm = document.getElementById("import");
const importState = document.getElementById("import-state");

function element(name, text, properties = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...properties });
}

function showImport(text, done = null, total = null) {
  const bar = element("progress", "");
  if (total) Object.assign(bar, { max: total, value: done });
  bar.setAttribute("aria-label", "Import");
  importState.replaceChildren(element("p", text), bar);
}

/** Send the file and return its job; `fetch` cannot report how much was sent. */
function sendFile(file, choice) {
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", `/api/v1/imports?${new URLSearchParams({ filename: file.name.slice(-300) || "import", fetch: choice })}`);
    sending.setRequestHeader("Content-Type", "application/octet-stream");
    for (const [name, value] of Object.entries(csrfHeaders())) sending.setRequestHeader(name, value);
    sending.upload.addEventListener("progress", (event) => showImport("Sending the file…", event.loaded, event.total));
    sending.addEventListener("error", () => reject(new Error("No connection. Try again when you are online.")));
    sending.addEventListener("load", () => {
      let answer = null;
      try {
        answer = JSON.parse(sending.responseText);
      } catch {
        // Not from our server: the status has to do.
      }
      if (answer?.job) resolve(answer.job);
      else reject(new Error([answer?.error?.message ?? `The server returned an error (${sending.status}).`, ...(answer?.error?.suggestions ?? [])].join(" ")));
    });
    sending.send(file);
  });
}

/** Show the stages of the job; return it when it has ended. */
function watchImport(job) {
  return new Promise((resolve) => {
    const events = new EventSource(`/api/v1/jobs/${job.id}/events`);
    const end = (event) => {
      events.close();
      resolve(JSON.parse(event.data).job);
    };
    events.addEventListener("stage", (event) => {
      const { stage } = JSON.parse(event.data);
      showImport(stage === "Queued" || stage === "Running" ? "Reading the file…" : `${stage}…`);
    });
    events.addEventListener("done", end);
    events.addEventListener("failed", end);
  });
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function showReport(report) {
  const counts = ["added", "updated", "unchanged", "skipped", "failed"].filter((name) => report[name] || name === "added");
  const notice = element("div", "", { className: "notice good" });
  const words = element("p", "");
  words.append(element("strong", `${plural(report.rows, "row")} imported. `), `${counts.map((name) => `${report[name].toLocaleString("en")} ${name}`).join(", ")}.`);
  if (report.queued) words.append(` ${report.queued.toLocaleString("en")} queued for fetching; they appear in your library one by one.`);
  notice.append(words);
  importState.replaceChildren(notice, ...(report.failures.length ? [element("h2", "Failed rows"), failedRows(report.failures.slice(0, 50))] : []));
}

function failedRows(failures) {
  const table = element("table", "", { className: "grid-table" });
  const head = table.createTHead().insertRow();
  head.append(...["Where", "Reason", "Content"].map((name) => element("th", name, { scope: "col" })));
  const body = table.createTBody();
  for (const { place, reason, excerpt } of failures) body.insertRow().append(element("td", place), element("td", reason), element("td", excerpt ?? "", { dir: "auto" }));
  const scroll = element("div", "", { className: "scroll-x", tabIndex: 0 });
  scroll.append(table);
  return scroll;
}

importForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { file, fetch: choice } = importForm.elements;
  const button = importForm.querySelector("button");
  button.disabled = true;
  try {
    const ended = await watchImport(await sendFile(file.files[0], choice.value));
    if (ended.report) showReport(ended.report);
    else throw new Error([ended.error?.message ?? "The import failed.", ...(ended.error?.suggestions ?? [])].join(" "));
    importForm.reset();
  } catch (error) {
    importState.replaceChildren(element("div", "", { className: "notice problem" }));
    importState.firstChild.setAttribute("role", "alert");
    importState.firstChild.append(element("p", error.message.replaceAll("`", "")));
  }
  button.disabled = false;
});
