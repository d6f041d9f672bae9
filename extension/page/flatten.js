// Runs in the page, in an isolated world that the page's scripts cannot reach. Returns the displayed page as one HTML text, with
// shadow roots (closed ones too) and frames of the same origin included.
// A classic script, as browsers cannot inject modules; injecting it again is harmless.

{
  const MAX_CHARS = 8_000_000; // above this, elements without text are left out, to stay below the server's limit of 10 MB
  const WITHOUT_TEXT = new Set(["style", "svg", "noscript", "template", "link", "canvas"]);
  const ADDRESSES = ["href", "src", "poster"];

  const { getter, method } = pagekeep;
  const [nodeType, childNodes, ownerDocument, baseUri] = ["nodeType", "childNodes", "ownerDocument", "baseURI"].map((name) => getter(Node, name));
  const [elementName, shadowRoot, namespace, outerHtml] = ["localName", "shadowRoot", "namespaceURI", "outerHTML"].map((name) => getter(Element, name));
  const [append, getAttribute, setAttribute, removeAttribute] = ["append", "getAttribute", "setAttribute", "removeAttribute"].map((name) => method(Element, name));
  const [documentElement, bodyOf, doctypeOf, implementation] = ["documentElement", "body", "doctype", "implementation"].map((name) => getter(Document, name));
  const [importNode, createElement, createTreeWalker] = ["importNode", "createElement", "createTreeWalker"].map((name) => method(Document, name));
  const getRootNode = method(Node, "getRootNode");
  const textContent = getter(Node, "textContent");

  const isElement = (node) => nodeType(node) === Node.ELEMENT_NODE;
  const localName = (node) => (isElement(node) ? elementName(node) : undefined);

  const rootOf = (element) => {
    if (!isElement(element)) return null;
    const open = shadowRoot(element);
    if (open) return open;
    try {
      if (element.openOrClosedShadowRoot !== undefined) return element.openOrClosedShadowRoot; // Firefox
      return namespace(element) === namespace(documentElement(document)) ? (chrome.dom?.openOrClosedShadowRoot(element) ?? null) : null;
    } catch {
      return null; // this element does not expose a shadow root
    }
  };

  const frameOf = (element) => {
    if (!["iframe", "frame"].includes(localName(element))) return null;
    try {
      const inner = element.contentDocument;
      const box = element.getBoundingClientRect();
      const body = box.width > 1 && box.height > 1 && inner ? bodyOf(inner) : null;
      return body && textContent(body).trim() ? body : null;
    } catch {
      return null; // another origin
    }
  };

  const isPlain = (root) => {
    const walk = createTreeWalker(document, root, NodeFilter.SHOW_ELEMENT);
    for (let node = walk.currentNode; node; node = walk.nextNode()) if (rootOf(node) || frameOf(node)) return false;
    return true;
  };

  // Not `instanceof`: every frame has its own classes.
  const inShadow = (node) => nodeType(getRootNode(node)) === Node.DOCUMENT_FRAGMENT_NODE;
  const isSlot = (node) => localName(node) === "slot" && inShadow(node);

  // Return the displayed children of a node: those of its shadow tree for a host, the assigned nodes for a slot.
  const displayedChildren = (node, children = []) => {
    const assigned = isSlot(node) ? node.assignedNodes() : [];
    for (const child of assigned.length ? assigned : childNodes(rootOf(node) ?? node))
      if (isSlot(child)) displayedChildren(child, children);
      else if (localName(child) !== "style" || !inShadow(child)) children.push(child);
    return children;
  };

  const isSkipped = (node, slim) => {
    const name = localName(node);
    if (name === "noscript") return true; // scripts ran, so it is not displayed
    if (!slim) return false;
    if (nodeType(node) === Node.COMMENT_NODE || WITHOUT_TEXT.has(name)) return true;
    return name === "script" && !/json/.test(getAttribute(node, "type") ?? "");
  };

  const fixUrls = (copy, node, slim) => {
    if (!isElement(copy)) return;
    for (const name of ADDRESSES) {
      const value = getAttribute(copy, name);
      if (!value) continue;
      if (slim && value.startsWith("data:")) removeAttribute(copy, name);
      // URLs inside a frame are relative to the frame's base.
      else if (ownerDocument(node) !== document && !value.startsWith("#") && URL.canParse(value, baseUri(node)))
        setAttribute(copy, name, new URL(value, baseUri(node)).href);
    }
  };

  // Copy an element; a frame becomes a div with the frame's content.
  const copyOf = (node, inert) => {
    const inner = frameOf(node);
    if (!inner) return { twin: importNode(inert, node, localName(node) === "template"), from: node };
    return { twin: createElement(inert, "div"), from: inner };
  };

  // Copy into a document without a window, where custom elements are inert and nothing loads. No recursion: trees may be deep.
  const copyTree = (root, slim) => {
    const inert = implementation(document).createHTMLDocument("");
    const top = importNode(inert, root, false);
    const work = [[root, top]];
    while (work.length) {
      const [node, copy] = work.pop();
      for (const child of displayedChildren(node)) {
        if (isSkipped(child, slim)) continue;
        const { twin, from } = copyOf(child, inert);
        fixUrls(twin, child, slim);
        append(copy, twin);
        if (localName(child) !== "template") work.push([from, twin]);
      }
    }
    return outerHtml(top);
  };

  const doctype = () => (doctypeOf(document) ? `${new XMLSerializer().serializeToString(doctypeOf(document))}\n` : "");

  pagekeep.flatten = () => {
    const root = documentElement(document);
    let html = isPlain(root) ? outerHtml(root) : copyTree(root, false);
    if (html.length > MAX_CHARS) html = copyTree(root, true);
    return doctype() + html;
  };
}
