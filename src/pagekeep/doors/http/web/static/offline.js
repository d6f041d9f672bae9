// List the pages that can be read offline.
"use strict";

(async () => {
  const list = document.getElementById("offline-pages");
  if (!("caches" in self)) return;
  const cache = await caches.open("pages");
  for (const request of (await cache.keys()).reverse()) {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/items/")) continue;
    const response = await cache.match(request);
    const row = document.createElement("li");
    const link = document.createElement("a");
    link.href = pathname;
    link.dir = "auto";
    link.textContent = parseHtml(await response.text()).querySelector(".reading h1")?.textContent || pathname;
    row.append(link);
    list.append(row);
  }
  document.getElementById("none").hidden = list.children.length > 0;
})();
