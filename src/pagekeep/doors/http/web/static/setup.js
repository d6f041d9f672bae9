// Pages of the settings: buttons that copy, and progress of exports.
"use strict";

for (const button of document.querySelectorAll("[data-copy-from]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copyFrom).textContent.trim());
      showMessage("Copied.");
    } catch {
      showMessage("Your browser does not allow copying here. Select the text and copy it.");
    }
  });
}

// While an export is being written, its row is loaded again; without this script there is a link to do so.
const exportsPlace = document.getElementById("exports");
async function watchExports() {
  if (!exportsPlace?.querySelector("progress")) return;
  await new Promise((resume) => setTimeout(resume, 1000));
  try {
    exportsPlace.replaceChildren(...(await fetchPart(location.pathname)).childNodes);
  } catch {
    return; // the link is still there
  }
  watchExports();
}
watchExports();
