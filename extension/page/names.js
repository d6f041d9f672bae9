// Runs in the page, before the other scripts of this folder: where they keep their functions, and how they look up names.
// Elements of the page can hide names from us too: `<form id=pagekeep>` is `globalThis.pagekeep` until we define our own, `<img
// name=documentElement>` a property of the document, `<input name=childNodes>` one of its form. What is defined on the window
// itself, and getters and methods of the prototypes, cannot be hidden; those work for nodes of other frames too.
Object.defineProperty(globalThis, "pagekeep", { configurable: true, value: {} });

pagekeep.getter = (type, name) => {
  const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
  return (node) => get.call(node);
};
pagekeep.method = (type, name) => {
  const { value } = Object.getOwnPropertyDescriptor(type.prototype, name);
  return (node, ...values) => value.apply(node, values);
};
