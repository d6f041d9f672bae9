// A list that the user orders: drag a page to its place. The buttons beside each page do the same without a mouse.
"use strict";

const list = document.querySelector("[data-list]");
let dragged = null;

for (const row of list ? list.children : []) {
  row.draggable = true;
  row.classList.add("can-drag");
}

list?.addEventListener("dragstart", (event) => {
  dragged = event.target.closest("li");
  if (!dragged) return;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", dragged.dataset.id);
  dragged.classList.add("dragged");
});

list?.addEventListener("dragover", (event) => {
  const row = event.target.closest("li");
  if (!dragged || !row) return;
  event.preventDefault();
  if (row === dragged) return;
  const box = row.getBoundingClientRect();
  list.insertBefore(dragged, event.clientY < box.top + box.height / 2 ? row : row.nextElementSibling);
});

list?.addEventListener("drop", (event) => event.preventDefault());

list?.addEventListener("dragend", async () => {
  if (!dragged) return;
  const row = dragged;
  dragged = null;
  row.classList.remove("dragged");
  await place(row);
});

async function place(row) {
  const body = new FormData();
  body.set("item", row.dataset.id);
  body.set("action", "place");
  body.set("before", row.nextElementSibling?.dataset.id ?? "");
  // Of a list with more pages below, the last one shown has a successor that is not on this page.
  if (!row.nextElementSibling && document.querySelector("[rel=next]")) {
    body.set("item", row.previousElementSibling.dataset.id);
    body.set("before", row.dataset.id);
  }
  try {
    await request(`/lists/${list.dataset.list}/items`, { method: "POST", body, headers: csrfHeaders() });
    updateButtons();
    showMessage("Moved.");
  } catch (error) {
    showMessage(error.message);
  }
}

function updateButtons() {
  const rows = [...list.children];
  rows.forEach((row, at) => {
    row.querySelector("[value=up]").disabled = at === 0 && !new URLSearchParams(location.search).has("after");
    row.querySelector("[value=down]").disabled = at === rows.length - 1 && !document.querySelector("[rel=next]");
  });
}

// The buttons move a page in place, so that the focus stays on them.
list?.addEventListener("submit", async (event) => {
  const button = event.submitter;
  const row = button.closest("li");
  const other = button.value === "up" ? row.previousElementSibling : row.nextElementSibling;
  if (button.value === "remove" || !other) return;
  event.preventDefault();
  list.insertBefore(button.value === "up" ? row : other, button.value === "up" ? other : row);
  await place(row);
  (button.disabled ? row.querySelector(".moves button:not(:disabled)") : button).focus();
});
