// Suggestions while typing in boxes for tags and sites: a combobox for mouse, keyboard and screen readers.
"use strict";

const KINDS = { tag: "tag", tags: "tag", add_tags: "tag", add: "tag", domain: "site", site: "site" };
const list = document.createElement("ul");
list.className = "suggestions";
list.id = "suggestions";
list.setAttribute("role", "listbox");
list.hidden = true;
document.body.append(list);
let field = null;
let asked = 0;
let waiting;

function kindOf(input) {
  if (!(input instanceof HTMLInputElement) || !["text", "search", ""].includes(input.getAttribute("type") ?? "")) return undefined;
  return input.dataset.suggest ?? KINDS[input.name];
}

/** The part of the text that is being written: in a box for several tags, what follows the last comma. */
function partOf(input) {
  const many = input.name === "tags" || input.name === "add_tags";
  const start = many ? input.value.lastIndexOf(",") + 1 : 0;
  return { start, text: input.value.slice(start).trimStart() };
}

function attach(input) {
  if (input.getAttribute("role") === "combobox") return;
  input.removeAttribute("list");
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");
  input.autocomplete = "off";
}

function close() {
  clearTimeout(waiting);
  asked += 1;
  if (field) {
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }
  list.hidden = true;
  list.replaceChildren();
}

async function open(input) {
  const number = ++asked;
  const { text } = partOf(input);
  let found;
  try {
    const query = new URLSearchParams({ kind: kindOf(input), q: text.trim() });
    found = (await (await request(`/suggestions?${query}`)).json()).suggestions;
  } catch {
    return;
  }
  if (number !== asked || document.activeElement !== input) return;
  found = found.filter((one) => one.name !== text.trim());
  if (!found.length) {
    close();
    return;
  }
  list.setAttribute("aria-label", kindOf(input) === "site" ? "Suggested sites" : "Suggested tags");
  list.replaceChildren(...found.map(option));
  const dialog = input.closest("dialog, [popover]") ?? document.body;
  if (list.parentElement !== dialog) dialog.append(list);
  list.hidden = false;
  place(input);
  input.setAttribute("aria-expanded", "true");
  input.removeAttribute("aria-activedescendant");
}

function option(one, number) {
  const row = document.createElement("li");
  row.id = `suggestion-${number}`;
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", "false");
  row.dataset.value = one.name;
  const name = document.createElement("span");
  name.dir = "auto";
  name.textContent = one.name;
  const amount = document.createElement("span");
  amount.className = "amount";
  amount.textContent = one.count.toLocaleString("en");
  row.append(name, amount);
  return row;
}

function place(input) {
  const box = input.getBoundingClientRect();
  const origin = (list.offsetParent ?? document.documentElement).getBoundingClientRect();
  const isBody = !list.offsetParent || list.offsetParent === document.body;
  list.style.left = `${box.left - (isBody ? -scrollX : origin.left)}px`;
  list.style.top = `${box.bottom - (isBody ? -scrollY : origin.top)}px`;
  list.style.minWidth = `${box.width}px`;
}

function choose(row) {
  const { start } = partOf(field);
  const before = field.value.slice(0, start);
  field.value = `${before}${start ? " " : ""}${row.dataset.value}`;
  const input = field;
  close();
  input.focus();
  input.dispatchEvent(new Event("input", { bubbles: true }));
  close();
}

function select(step) {
  const rows = [...list.children];
  const at = rows.findIndex((row) => row.getAttribute("aria-selected") === "true");
  const next = rows[(at + step + rows.length + (at < 0 && step < 0 ? 1 : 0)) % rows.length];
  for (const row of rows) row.setAttribute("aria-selected", String(row === next));
  field.setAttribute("aria-activedescendant", next.id);
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("focusin", (event) => {
  if (field && event.target !== field) close();
  if (!kindOf(event.target)) return;
  field = event.target;
  attach(field);
});
document.addEventListener("input", (event) => {
  if (!kindOf(event.target) || event.isTrusted === false) return;
  field = event.target;
  attach(field);
  clearTimeout(waiting);
  waiting = setTimeout(() => open(field), 120);
});
document.addEventListener("keydown", (event) => {
  if (!field || event.target !== field) return;
  if (list.hidden) {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      open(field);
    }
    return;
  }
  const current = list.querySelector('[aria-selected="true"]');
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    select(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape") {
    event.preventDefault();
    event.stopPropagation();
    close();
  } else if ((event.key === "Enter" || event.key === "Tab") && current) {
    event.preventDefault();
    choose(current);
  }
}, true);
list.addEventListener("pointerdown", (event) => {
  event.preventDefault(); // the field keeps the focus
  const row = event.target.closest("li");
  if (row) choose(row);
});
document.addEventListener("focusout", (event) => {
  if (event.target === field && !list.hidden) setTimeout(() => document.activeElement !== field && close(), 0);
});
