// Makes opened pages available offline. The server inserts VERSION and SHELL above this line.
"use strict";

const FILES = `files-${VERSION}`;
const PAGES = "pages";
const IMAGES = "pictures";
const MAX_ENTRIES = { [PAGES]: 200, [IMAGES]: 600 };

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(FILES).then((cache) => cache.addAll([...SHELL, "/offline"])).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (![FILES, PAGES, IMAGES].includes(name)) await caches.delete(name);
    await self.clients.claim();
  })());
});

self.addEventListener("message", (event) => {
  if (event.data === "forget") event.waitUntil(Promise.all([caches.delete(PAGES), caches.delete(IMAGES)]));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (url.pathname.startsWith("/static/")) event.respondWith(fromCache(request, FILES));
  else if (url.pathname === "/api/proxy-image") event.respondWith(fromCache(request, IMAGES));
  else if (request.mode === "navigate") event.respondWith(fromServer(request, url));
});

// Files that never change at their URL: served from the cache, and added to it.
async function fromCache(request, name) {
  const cache = await caches.open(name);
  const cached = await cache.match(request);
  if (cached) return cached;
  const response = await fetch(request);
  if (response.ok) await store(cache, request, response.clone(), name);
  return response;
}

// Pages: from the server if it is reachable, otherwise from the cache.
async function fromServer(request, url) {
  const cache = await caches.open(PAGES);
  const isItem = /^\/items\/[^/]+$/.test(url.pathname);
  const isList = url.pathname === "/" && !url.search;
  try {
    const response = await fetch(request);
    const mayStore = response.ok && !response.redirected && response.headers.get("Cache-Control") !== "no-store";
    if (mayStore && (isItem || isList)) await store(cache, url.pathname, response.clone(), PAGES);
    if (response.status === 404 && isItem) await cache.delete(url.pathname);
    return response;
  } catch {
    return (await cache.match(url.pathname)) || (await caches.match("/offline")) || Response.error();
  }
}

async function store(cache, key, response, name) {
  await cache.put(key, response);
  const all = await cache.keys();
  for (const old of all.slice(0, Math.max(0, all.length - (MAX_ENTRIES[name] || Infinity)))) await cache.delete(old);
}
