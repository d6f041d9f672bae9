// Live progress of running crawls; without this script the pages load again every few seconds.
"use strict";

for (const place of document.querySelectorAll("[data-crawl]")) {
  const events = new EventSource(`/api/v1/crawls/${place.dataset.crawl}/events`);
  const show = (name, value) => {
    const element = place.querySelector(`[data-${name}]`);
    if (element) element.textContent = value.toLocaleString("en");
  };
  events.addEventListener("progress", (event) => {
    const { crawl } = JSON.parse(event.data);
    show("pages", crawl.pages);
    show("visited", crawl.visited);
    show("found", crawl.found);
    const bar = place.querySelector("progress");
    if (bar) Object.assign(bar, { max: crawl.found || 1, value: crawl.visited });
  });
  events.addEventListener("done", () => {
    events.close();
    location.reload();
  });
}
