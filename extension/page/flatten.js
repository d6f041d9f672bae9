// Runs in the page, in a world of its own that the page's scripts cannot reach. It is given nothing, and tells what is shown:
// shadow roots (closed ones too) and frames of the same origin are flattened into one HTML text.
// A classic script: browsers inject no modules. Injected again, it defines the same again.
globalThis.pagekeep ??= {};

{
  const LARGEST = 8_000_000; // characters; above, what nobody reads stays behind, so that the server's 10 MB are not exceeded
  const UNREAD = new Set(["style", "svg", "noscript", "template", "link", "canvas"]);
  const ADDRESSES = ["href", "src", "poster"];

  const rootOf = (element) => {
    if (element.nodeType !== Node.ELEMENT_NODE) return null;
    if (element.shadowRoot) return element.shadowRoot;
    try {
      if (element.openOrClosedShadowRoot !== undefined) return element.openOrClosedShadowRoot; // Firefox
      return element.namespaceURI === document.documentElement.namespaceURI ? (chrome.dom?.openOrClosedShadowRoot(element) ?? null) : null;
    } catch {
      return null; // whatever it is, it opens to nobody
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
      return null; // another origin's
    }
  };

  const isPlain = (root) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    for (let node = walk.currentNode; node; node = walk.nextNode()) if (rootOf(node) || frameOf(node)) return false;
    return true;
  };

  // Not `instanceof`: a frame has classes of its own.
  const inShadow = (node) => node.getRootNode().nodeType === Node.DOCUMENT_FRAGMENT_NODE;
  const isSlot = (node) => node.localName === "slot" && inShadow(node);

  // What a reader sees under a node: a host shows its shadow tree, a slot what was put into it.
  const shown = (node, found = []) => {
    const assigned = isSlot(node) ? node.assignedNodes() : [];
    for (const child of assigned.length ? assigned : (rootOf(node) ?? node).childNodes)
      if (isSlot(child)) shown(child, found);
      else if (child.localName !== "style" || !inShadow(child)) found.push(child);
    return found;
  };

  const isUnread = (node, slim) => {
    if (node.localName === "noscript") return true; // scripts ran
    if (!slim) return false;
    if (node.nodeType === Node.COMMENT_NODE || UNREAD.has(node.localName)) return true;
    return node.localName === "script" && !/json/.test(node.type);
  };

  const settle = (copy, node, slim) => {
    for (const name of ADDRESSES) {
      const value = copy.getAttribute?.(name);
      if (!value) continue;
      if (slim && value.startsWith("data:")) copy.removeAttribute(name);
      // Inside a frame an address counts from the frame's own base.
      else if (node.ownerDocument !== document && !value.startsWith("#") && URL.canParse(value, node.baseURI))
        copy.setAttribute(name, new URL(value, node.baseURI).href);
    }
  };

  // A frame becomes a division with what it shows.
  const twinOf = (node, inert) => {
    const inner = frameOf(node);
    if (!inner) return { twin: inert.importNode(node, node.localName === "template"), from: node };
    return { twin: inert.createElement("div"), from: inner.body };
  };

  // Copies go into a document without a window, where custom elements stay inert and nothing loads. No recursion: trees may be deep.
  const copied = (root, slim) => {
    const inert = document.implementation.createHTMLDocument("");
    const top = inert.importNode(root, false);
    const work = [[root, top]];
    while (work.length) {
      const [node, copy] = work.pop();
      for (const child of shown(node)) {
        if (isUnread(child, slim)) continue;
        const { twin, from } = twinOf(child, inert);
        settle(twin, child, slim);
        copy.append(twin);
        if (child.localName !== "template") work.push([from, twin]);
      }
    }
    return top.outerHTML;
  };

  const doctype = () => (document.doctype ? `${new XMLSerializer().serializeToString(document.doctype)}\n` : "");

  globalThis.pagekeep.flatten = () => {
    const root = document.documentElement;
    let html = isPlain(root) ? root.outerHTML : copied(root, false);
    if (html.length > LARGEST) html = copied(root, true);
    return doctype() + html;
  };
}
