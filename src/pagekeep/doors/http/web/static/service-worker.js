// Keeps pages on the device: those that were opened, and a shelf of the last ones saved. The server inserts VERSION and SHELL
// above this line. Everything belongs to one user: another one, or none, begins with nothing.
"use strict";

const FILES = `files-${VERSION}`;
const PAGES = "pages";
const IMAGES = "pictures";
const SHELF = "shelf"; // what is kept: `/offline/pages` as the server sent it, with the pages that are here
const LIST = "/offline/pages";
const MAX_ENTRIES = { [PAGES]: 200, [IMAGES]: 600 };
const MAX_PAGE_PICTURES = 40;
const PICTURE = /(?:src|href)="(\/api\/proxy-image\?[^"]+)"/g;

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(FILES).then((cache) => cache.addAll([...SHELL, "/offline"])).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (![FILES, PAGES, IMAGES, SHELF].includes(name)) await caches.delete(name);
    await self.clients.claim();
  })());
});

self.addEventListener("message", (event) => {
  if (event.data === "forget") event.waitUntil(forget());
  else if (event.data?.user) event.waitUntil(useShelf(event.data.user, event.data.fill));
});

async function forget() {
  await Promise.all([PAGES, IMAGES, SHELF].map((name) => caches.delete(name)));
}

async function readShelf() {
  const stored = await (await caches.open(SHELF)).match(LIST);
  return stored ? stored.json() : { user: null, pages: [] };
}

async function writeShelf(shelf) {
  await (await caches.open(SHELF)).put(LIST, new Response(JSON.stringify(shelf), { headers: { "Content-Type": "application/json" } }));
}

/** Make the shelf that of a user; remove what belongs to another one. */
async function useShelf(user, fill) {
  const shelf = await readShelf();
  if (shelf.user !== user) {
    if (shelf.user) await forget();
    await writeShelf({ user, pages: [] });
  }
  if (fill) await fillShelf(user);
}

let filling = null;
function fillShelf(user) {
  filling ??= loadShelf(user).catch(() => {}).finally(() => { filling = null; });
  return filling;
}

/** Load the last pages with their pictures, one after the other; those that have not changed stay. */
async function loadShelf(user) {
  const response = await fetch(LIST, { headers: { Accept: "application/json" } });
  if (!response.ok || response.redirected) return;
  const wanted = await response.json();
  if (wanted.user !== user) return;
  const pages = await caches.open(PAGES);
  const old = new Map((await readShelf()).pages.map((page) => [page.path, page.version]));
  const kept = [];
  for (const page of wanted.pages) {
    const isCurrent = old.get(page.path) === page.version && (await pages.match(page.path));
    if (isCurrent || (await loadPage(pages, page.path))) kept.push(page);
    if ((await readShelf()).user !== user) return; // signed out meanwhile
    await writeShelf({ user, pages: kept });
  }
}

async function loadPage(pages, path) {
  const response = await fetch(path, { headers: { Accept: "text/html" } });
  if (!mayStore(response)) return false;
  const html = await response.clone().text();
  await store(pages, path, response, PAGES);
  const pictures = [...html.matchAll(PICTURE)].map((match) => match[1].replaceAll("&amp;", "&"));
  for (const url of [...new Set(pictures)].slice(0, MAX_PAGE_PICTURES)) {
    await fromCache(new Request(url), IMAGES).catch(() => {}); // one that is missing does not stop the others
  }
  return true;
}

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

function mayStore(response) {
  return response.ok && !response.redirected && response.headers.get("Cache-Control") !== "no-store";
}

// Pages: from the server if it is reachable, otherwise from the cache.
async function fromServer(request, url) {
  const isItem = /^\/items\/[^/]+$/.test(url.pathname);
  const isList = url.pathname === "/" && !url.search;
  try {
    const response = await fetch(request);
    const cache = await caches.open(PAGES);
    if (mayStore(response) && (isItem || isList)) await store(cache, url.pathname, response.clone(), PAGES);
    if (response.status === 404 && isItem) await cache.delete(url.pathname);
    return response;
  } catch {
    const cache = await caches.open(PAGES);
    return (await cache.match(url.pathname)) || (await caches.match("/offline")) || Response.error();
  }
}

async function store(cache, key, response, name) {
  await cache.put(key, response);
  const all = await cache.keys();
  for (const old of all.slice(0, Math.max(0, all.length - (MAX_ENTRIES[name] || Infinity)))) await cache.delete(old);
}
