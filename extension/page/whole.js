// Runs in the page: goes down to its end and back, so that what loads on the way is there. Never longer than a few seconds:
// some pages have no end.
globalThis.pagekeep ??= {};

{
  const MOST_STEPS = 25;
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  globalThis.pagekeep.unfold = async () => {
    const [left, top] = [scrollX, scrollY];
    for (let step = 0; step < MOST_STEPS; step++) {
      scrollBy({ top: innerHeight, behavior: "instant" });
      await pause(150);
      if (scrollY + innerHeight >= document.documentElement.scrollHeight - 2) break;
    }
    await pause(300);
    scrollTo({ left, top, behavior: "instant" });
  };
}
