// Whether the page still waits for style sheets, fonts or images. Lazy images are loaded now.
(() => {
  for (const image of document.querySelectorAll("img[loading=lazy]")) image.loading = "eager";
  const waiting = [...document.images].some((image) => !image.complete);
  return waiting || document.readyState !== "complete" || document.fonts.status === "loading";
})()
