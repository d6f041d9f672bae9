// Runs in the page, in an isolated world that the page's scripts cannot reach. Returns the displayed page as one HTML text, with
// shadow roots (closed ones too) and frames of the same origin included.
// A classic script, as browsers cannot inject modules; injecting it again is harmless.
globalThis.pagekeep ??= {};

{
  const MAX_CHARS = 8_000_000; // above this, elements without text are left out, to stay below the server's limit of 10 MB
  const WITHOUT_TEXT = new Set(["style", "svg", "noscript", "template", "link", "canvas"]);
  const ADDRESSES = ["href", "src", "poster"];

  const rootOf = (element) => {
    if (element.nodeType !== Node.ELEMENT_NODE) return null;
    if (element.shadowRoot) return element.shadowRoot;
    try {
      if (element.openOrClosedShadowRoot !== undefined) return element.openOrClosedShadowRoot; // Firefox
      return element.namespaceURI === document.documentElement.namespaceURI ? (chrome.dom?.openOrClosedShadowRoot(element) ?? null) : null;
    } catch {
      return null; // this element does not expose a shadow root
    }
  };

  const frameOf = (element) => {
    if (element.localName !== "iframe" && element.localName !== "frame") return null;
    try {
      const inner = element.contentDocument;
      const box = element.getBoundingClientRect();
      const seen = box.width > 1 && box.height > 1;
      return seen && inner?.body?.textContent.trim() ? inner : null;
    } catch {
      return null; // another origin
    }
  };

  const isPlain = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let node = walk.currentNode; node; node = walk.nextNode()) if (rootOf(node) || frameOf(node)) return false;
    return true;
  };

  // Not `instanceof`: every frame has its own classes.
  const inShadow = (node) => node.getRootNode().nodeType === Node.DOCUMENT_FRAGMENT_NODE;
  const isSlot = (node) => node.localName === "slot" && inShadow(node);

  // Return the displayed children of a node: those of its shadow tree for a host, the assigned nodes for a slot.
  const displayedChildren = (node, children = []) => {
    const assigned = isSlot(node) ? node.assignedNodes() : [];
    for (const child of assigned.length ? assigned : (rootOf(node) ?? node).childNodes)
      if (isSlot(child)) displayedChildren(child, children);
      else if (child.localName !== "style" || !inShadow(child)) children.push(child);
    return children;
  };

  const isSkipped = (node, slim) => {
    if (node.localName === "noscript") return true; // scripts ran, so it is not displayed
    if (!slim) return false;
    if (node.nodeType === Node.COMMENT_NODE || WITHOUT_TEXT.has(node.localName)) return true;
    return node.localName === "script" && !/json/.test(node.type);
  };

  const fixUrls = (copy, node, slim) => {
    for (const name of ADDRESSES) {
      const value = copy.getAttribute?.(name);
      if (!value) continue;
      if (slim && value.startsWith("data:")) copy.removeAttribute(name);
      // URLs inside a frame are relative to the frame's base.
      else if (node.ownerDocument !== document && !value.startsWith("#") && URL.canParse(value, node.baseURI))
        copy.setAttribute(name, new URL(value, node.baseURI).href);
    }
  };

  // Copy an element; a frame becomes a div with the frame's content.
  const copyOf = (node, inert) => {
    const inner = frameOf(node);
    if (!inner) return { twin: inert.importNode(node, node.localName === "template"), from: node };
    return { twin: inert.createElement("div"), from: inner.body };
  };

  // Copy into a document without a window, where custom elements are inert and nothing loads. No recursion: trees may be deep.
  const copyTree = (root, slim) => {
    const inert = document.implementation.createHTMLDocument("");
    const top = inert.importNode(root, false);
    const work = [[root, top]];
    while (work.length) {
      const [node, copy] = work.pop();
      for (const child of displayedChildren(node)) {
        if (isSkipped(child, slim)) continue;
        const { twin, from } = copyOf(child, inert);
        fixUrls(twin, child, slim);
        copy.append(twin);
        if (child.localName !== "template") work.push([from, twin]);
      }
    }
    return top.outerHTML;
  };

  const doctype = () => (document.doctype ? `${new XMLSerializer().serializeToString(document.doctype)}\n` : "");

  globalThis.pagekeep.flatten = () => {
    const root = document.documentElement;
    let html = isPlain(root) ? root.outerHTML : copyTree(root, false);
    if (html.length > MAX_CHARS) html = copyTree(root, true);
    return doctype() + html;
  };
}
