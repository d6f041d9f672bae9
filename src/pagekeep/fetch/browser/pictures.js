// Whether the page still waits for what it shows: style sheets, fonts, pictures. Those that wait to be scrolled to are sent for.
(() => {
  for (const image of document.querySelectorAll("img[loading=lazy]")) image.loading = "eager";
  const waiting = [...document.images].some((image) => !image.complete);
  return waiting || document.readyState !== "complete" || document.fonts.status === "loading";
})()
