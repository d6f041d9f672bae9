// The queue of pages to send, stored on disk until the server has them: nothing is lost when the server is off or the browser closes.

const openDatabase = () =>
  new Promise((done, fail) => {
    const request = indexedDB.open("pagekeep", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("queue", { keyPath: "number", autoIncrement: true });
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

async function runTransaction(mode, act) {
  const database = await openDatabase();
  try {
    return await new Promise((done, fail) => {
      const transaction = database.transaction("queue", mode, { durability: "strict" });
      const request = act(transaction.objectStore("queue"));
      transaction.oncomplete = () => done(request.result);
      transaction.onabort = transaction.onerror = () => fail(transaction.error ?? request.error);
    });
  } finally {
    database.close();
  }
}

/** Add a page; return its entry. The idempotency key stays the same for every attempt, so the page is saved only once. */
export async function put(page, title) {
  const entry = { key: crypto.randomUUID(), page, title, at: Date.now(), refused: null, trouble: null };
  return { ...entry, number: await runTransaction("readwrite", (store) => store.add(entry)) };
}

export const get = (number) => runTransaction("readonly", (store) => store.get(number));
export const drop = (number) => runTransaction("readwrite", (store) => store.delete(number));

/** Return the numbers of all entries, oldest first: pages are large, so they are read one at a time. */
export const numbers = () => runTransaction("readonly", (store) => store.getAllKeys());

/** Change fields of an entry. */
export async function update(number, changes) {
  const entry = await get(number);
  if (entry) await runTransaction("readwrite", (store) => store.put({ ...entry, ...changes }));
}

/** Stop automatic attempts for an entry, and store the reason. */
export const refuse = (number, refused) => update(number, { refused, trouble: null });

/** Allow an entry to be sent again. A retry after a refusal is a new request, so it gets a new key. */
export const allow = (number) => update(number, { refused: null, trouble: null, key: crypto.randomUUID() });

/** Return all entries without their pages. */
export async function list() {
  const entries = [];
  for (const number of await numbers()) {
    const entry = await get(number);
    if (entry) entries.push({ number, title: entry.title, url: entry.page.url, at: entry.at, refused: entry.refused, trouble: entry.trouble ?? null });
  }
  return entries;
}
