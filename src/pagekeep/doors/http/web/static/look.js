// The reader's look, before anything is painted: pages kept for offline reading have the look of the day they were kept.
"use strict";
const PARTS = ["theme", "size", "width", "face"];
const CHOICES = {
  theme: ["auto", "light", "sepia", "dark"],
  size: ["1", "2", "3", "4", "5"],
  width: ["narrow", "medium", "wide"],
  face: ["serif", "sans"],
};

const look = {
  read() {
    const cookie = document.cookie.split("; ").find((part) => part.startsWith("pagekeep_look="));
    return cookie ? cookie.slice("pagekeep_look=".length).split(".") : [];
  },
  apply() {
    look.read().forEach((value, place) => {
      const part = PARTS[place];
      if (part && CHOICES[part].includes(value)) document.documentElement.dataset[part] = value;
    });
  },
  set(part, value) {
    document.documentElement.dataset[part] = value;
    const written = PARTS.map((name) => document.documentElement.dataset[name]).join(".");
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `pagekeep_look=${written}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
    const field = document.querySelector(`.look input[name="${part}"][value="${value}"]`);
    if (field) field.checked = true;
  },
  step(part, by, around) {
    const choices = CHOICES[part];
    const place = choices.indexOf(document.documentElement.dataset[part]) + by;
    const next = around ? (place + choices.length) % choices.length : Math.max(0, Math.min(choices.length - 1, place));
    look.set(part, choices[next]);
    return choices[next];
  },
};
look.apply();
