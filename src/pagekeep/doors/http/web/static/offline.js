// List the pages that can be read offline: the shelf of the last ones saved, then others that were opened.
"use strict";

function addPage(list, { path, title, site = "", reading_time: time = "" }) {
  const row = document.createElement("li");
  const link = document.createElement("a");
  link.href = path;
  link.dir = "auto";
  link.textContent = title;
  const about = document.createElement("span");
  about.className = "help";
  about.textContent = [site, time].filter(Boolean).join(" · ");
  row.append(link, about);
  list.append(row);
}

(async () => {
  if (location.pathname === "/offline" && navigator.onLine) {
    document.querySelector("h1").textContent = "Offline pages";
    document.getElementById("offline-reason").textContent = "These pages are kept on this device. You can read them without a connection.";
  }
  const list = document.getElementById("offline-pages");
  if (!("caches" in self)) return;
  const [cache, shelf] = [await caches.open("pages"), await (await caches.open("shelf")).match("/offline/pages")];
  const known = new Map((shelf ? (await shelf.json()).pages : []).map((page) => [page.path, page]));
  for (const page of known.values()) if (await cache.match(page.path)) addPage(list, page);
  for (const request of (await cache.keys()).reverse()) {
    const { pathname: path } = new URL(request.url);
    if (!path.startsWith("/items/") || known.has(path)) continue;
    const page = parseHtml(await (await cache.match(request)).text());
    addPage(list, { path, title: page.querySelector(".reading h1")?.textContent || path });
  }
  document.getElementById("none").hidden = list.children.length > 0;
})();
