// Pages that were opened can be read again without a network. VERSION and SHELL stand before this, put there by the server.
"use strict";

const FILES = `files-${VERSION}`;
const PAGES = "pages";
const PICTURES = "pictures";
const MOST = { [PAGES]: 200, [PICTURES]: 600 };

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(FILES).then((cache) => cache.addAll([...SHELL, "/offline"])).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (![FILES, PAGES, PICTURES].includes(name)) await caches.delete(name);
    await self.clients.claim();
  })());
});

self.addEventListener("message", (event) => {
  if (event.data === "forget") event.waitUntil(Promise.all([caches.delete(PAGES), caches.delete(PICTURES)]));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/static/")) event.respondWith(kept(request, FILES));
  else if (url.pathname === "/api/proxy-image") event.respondWith(kept(request, PICTURES));
  else if (request.mode === "navigate") event.respondWith(fresh(request, url));
});

// What never changes at its address: from the cache, and into it.
async function kept(request, name) {
  const cache = await caches.open(name);
  const found = await cache.match(request);
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) await keep(cache, request, answer.clone(), name);
  return answer;
}

// Pages: from the server while it can be reached.
async function fresh(request, url) {
  const cache = await caches.open(PAGES);
  const isItem = /^\/items\/[^/]+$/.test(url.pathname);
  const isList = url.pathname === "/" && !url.search;
  try {
    const answer = await fetch(request);
    const mayKeep = answer.ok && !answer.redirected && answer.headers.get("Cache-Control") !== "no-store";
    if (mayKeep && (isItem || isList)) await keep(cache, url.pathname, answer.clone(), PAGES);
    if (answer.status === 404 && isItem) await cache.delete(url.pathname);
    return answer;
  } catch {
    return (await cache.match(url.pathname)) || (await caches.match("/offline")) || Response.error();
  }
}

async function keep(cache, key, answer, name) {
  await cache.put(key, answer);
  const all = await cache.keys();
  for (const old of all.slice(0, Math.max(0, all.length - (MOST[name] || Infinity)))) await cache.delete(old);
}
