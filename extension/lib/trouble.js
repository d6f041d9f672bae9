// How long to leave a server alone that answers, but with a failure of its own.

const MINUTE = 60_000;
const LONGEST = 60 * MINUTE;
const PATIENCE = 24 * 60 * MINUTE;

/** The trouble with a page after one more failure: when it is tried next, each time twice as long; or why it is given up, after a day. */
export function after(trouble, message, now = Date.now()) {
  const since = trouble?.since ?? now;
  const tries = (trouble?.tries ?? 0) + 1;
  if (now - since >= PATIENCE) return { givenUp: `Given up after a day of trying. The server says: ${message}` };
  return { since, tries, message, due: now + Math.min(LONGEST, MINUTE * 2 ** (tries - 1)) };
}

export const isDue = (trouble, now = Date.now()) => !trouble || trouble.due <= now;
