// What is to be sent, kept on disk until the server has it: neither a server that is off nor a browser that is closed loses a page.

const opening = () =>
  new Promise((done, fail) => {
    const request = indexedDB.open("pagekeep", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("queue", { keyPath: "number", autoIncrement: true });
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

async function within(mode, act) {
  const database = await opening();
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

/** Keeps a page to be sent; gives its entry. The key stays the same however often it is sent, so it is saved once. */
export async function put(page, title) {
  const entry = { key: crypto.randomUUID(), page, title, at: Date.now(), refused: null, trouble: null };
  return { ...entry, number: await within("readwrite", (store) => store.add(entry)) };
}

export const get = (number) => within("readonly", (store) => store.get(number));
export const drop = (number) => within("readwrite", (store) => store.delete(number));

/** Numbers of all that wait, oldest first: pages are large, and are read one at a time. */
export const numbers = () => within("readonly", (store) => store.getAllKeys());
export const count = () => within("readonly", (store) => store.count());

/** Notes something on a page that waits. */
export async function note(number, changes) {
  const entry = await get(number);
  if (entry) await within("readwrite", (store) => store.put({ ...entry, ...changes }));
}

/** Notes that it is not to be sent by itself any more, and why. */
export const refuse = (number, refused) => note(number, { refused, trouble: null });

/** It may be sent again. A key stands for one request: when it is tried again after a refusal, that is another. */
export const allow = (number) => note(number, { refused: null, trouble: null, key: crypto.randomUUID() });

/** What waits, without the pages themselves. */
export async function listed() {
  const found = [];
  for (const number of await numbers()) {
    const entry = await get(number);
    if (entry) found.push({ number, title: entry.title, url: entry.page.url, at: entry.at, refused: entry.refused, trouble: entry.trouble ?? null });
  }
  return found;
}
