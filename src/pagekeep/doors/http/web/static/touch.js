// The list on touch screens: swipe a row to archive or pin it, press long to select. The buttons and keys of each row do the same.
"use strict";

const KEYS = { left: "e", right: "p" }; // the action of each side: archive or move to the inbox, pin or unpin
const START_POINTS = 12; // a smaller movement is a tap
const DONE_POINTS = 96;
const LONG_PRESS_MS = 500;

const list = document.querySelector(".list");
const selecting = document.getElementById("selecting");
let touch = null; // the touch that is under way
let swallowClick = false;

function isSelecting() {
  return selecting?.checked || Boolean(list.querySelector(".pick :checked"));
}

function toggle(row) {
  const box = row.querySelector(".pick input");
  if (selecting) selecting.checked = true;
  box?.click();
}

list?.addEventListener("pointerdown", (event) => {
  swallowClick = false;
  const row = event.target.closest(".row");
  if (event.pointerType !== "touch" || !event.isPrimary || !row || event.target.closest(".actions, .pick")) return;
  touch = { row, x: event.clientX, y: event.clientY, id: event.pointerId, moved: 0, strip: null };
  touch.timer = setTimeout(() => {
    if (!touch || isSelecting()) return;
    toggle(touch.row);
    end();
    swallowClick = true;
  }, LONG_PRESS_MS);
});

list?.addEventListener("pointermove", (event) => {
  if (!touch || event.pointerId !== touch.id) return;
  const [across, down] = [event.clientX - touch.x, event.clientY - touch.y];
  if (Math.abs(across) > START_POINTS || Math.abs(down) > START_POINTS) clearTimeout(touch.timer);
  if (!touch.strip && (Math.abs(across) < START_POINTS || Math.abs(across) < 1.5 * Math.abs(down) || isSelecting())) return;
  touch.moved = across;
  showStrip(across < 0 ? "left" : "right", Math.abs(across) >= DONE_POINTS);
});

/** Show what happens when the finger is lifted. */
function showStrip(side, far) {
  const { row } = touch;
  const button = row.querySelector(`.actions [data-key="${KEYS[side]}"]`);
  touch.button = far ? button : null;
  if (!touch.strip) {
    touch.strip = document.createElement("div");
    touch.strip.setAttribute("aria-hidden", "true");
    row.append(touch.strip);
    row.classList.add("swiping");
  }
  touch.strip.className = `swipe to-${side}${far && button ? " far" : ""}`;
  if (touch.side === side) return;
  touch.side = side;
  const icon = button?.querySelector(".icon")?.cloneNode(true);
  const words = document.createElement("span");
  words.textContent = button?.querySelector(".label")?.textContent || "Not possible here";
  touch.strip.replaceChildren(...(icon ? [icon] : []), words);
}

function end() {
  if (!touch) return;
  clearTimeout(touch.timer);
  touch.strip?.remove();
  touch.row.classList.remove("swiping");
  touch = null;
}

list?.addEventListener("pointerup", (event) => {
  if (!touch || event.pointerId !== touch.id) return;
  const { button, strip } = touch;
  end();
  button?.click(); // the same form as without touch: the message offers to undo it
  swallowClick = Boolean(strip);
});
list?.addEventListener("pointercancel", end);

list?.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (swallowClick) {
    swallowClick = false;
    event.preventDefault();
    event.stopPropagation();
  } else if (row && selecting?.checked && !event.target.closest(".pick, .actions")) {
    event.preventDefault();
    event.stopPropagation();
    row.querySelector(".pick input")?.click();
  }
}, true);
list?.addEventListener("contextmenu", (event) => {
  if ((touch || swallowClick) && event.target.closest(".row")) event.preventDefault();
});

selecting?.addEventListener("change", () => {
  if (selecting.checked) return;
  for (const box of list.querySelectorAll(".pick :checked")) box.click();
});
document.addEventListener("pagekeep:done", () => {
  if (selecting) selecting.checked = false;
});
