// Runs in the page: scrolls to the end and back, so that lazy content loads. The number of steps is limited, because some pages
// never end.
{
  const MAX_STEPS = 25;
  const documentElement = pagekeep.getter(Document, "documentElement");
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  pagekeep.scrollThrough = async () => {
    const [left, top] = [scrollX, scrollY];
    for (let step = 0; step < MAX_STEPS; step++) {
      scrollBy({ top: innerHeight, behavior: "instant" });
      await pause(150);
      if (scrollY + innerHeight >= documentElement(document).scrollHeight - 2) break;
    }
    await pause(300);
    scrollTo({ left, top, behavior: "instant" });
  };
}
