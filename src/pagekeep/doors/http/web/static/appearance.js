// Apply the appearance settings before the first paint: pages saved for offline reading contain the settings of the day they were saved.
"use strict";
const PARTS = ["theme", "size", "width", "font"];
const CHOICES = {
  theme: ["auto", "light", "sepia", "dark"],
  size: ["1", "2", "3", "4", "5"],
  width: ["narrow", "medium", "wide"],
  font: ["serif", "sans"],
};

const appearance = {
  read() {
    const cookie = document.cookie.split("; ").find((part) => part.startsWith("pagekeep_look="));
    return cookie ? cookie.slice("pagekeep_look=".length).split(".") : [];
  },
  apply() {
    appearance.read().forEach((value, index) => {
      const part = PARTS[index];
      if (part && CHOICES[part].includes(value)) document.documentElement.dataset[part] = value;
    });
  },
  set(part, value) {
    document.documentElement.dataset[part] = value;
    const cookie = PARTS.map((name) => document.documentElement.dataset[name]).join(".");
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `pagekeep_look=${cookie}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
    const field = document.querySelector(`.appearance input[name="${part}"][value="${value}"]`);
    if (field) field.checked = true;
  },
  step(part, by, wrap) {
    const choices = CHOICES[part];
    const index = choices.indexOf(document.documentElement.dataset[part]) + by;
    const next = wrap ? (index + choices.length) % choices.length : Math.max(0, Math.min(choices.length - 1, index));
    appearance.set(part, choices[next]);
    return choices[next];
  },
};
appearance.apply();
document.documentElement.classList.add("scripted"); // style sheets may hide at once what a script will close
