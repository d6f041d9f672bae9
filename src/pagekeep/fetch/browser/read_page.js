// The page as one HTML text, with open shadow roots flattened into it, and the URL, type, size and status of the document.
(limit) => {
  const hosts = () => {
    const walk = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) if (walk.currentNode.shadowRoot) return true;
    return false;
  };

  const isSlot = (node) => node.localName === "slot" && node.getRootNode() instanceof ShadowRoot;

  // The visible children of a node: a host shows its shadow tree, a slot its assigned nodes.
  const shown = (node, found = []) => {
    const assigned = isSlot(node) ? node.assignedNodes() : [];
    for (const child of assigned.length ? assigned : (node.shadowRoot || node).childNodes)
      if (isSlot(child)) shown(child, found);
      else if (child.localName !== "style" || !(child.getRootNode() instanceof ShadowRoot)) found.push(child);
    return found;
  };

  // Copies go into a document without a window, where custom elements stay inert. No recursion: trees may be deep.
  const flattened = () => {
    const inert = document.implementation.createHTMLDocument("");
    const top = inert.importNode(document.documentElement, false);
    const work = [[document.documentElement, top]];
    while (work.length) {
      const [node, copy] = work.pop();
      for (const child of shown(node)) {
        const twin = inert.importNode(child, child.localName === "template");
        copy.append(twin);
        if (child.localName !== "template") work.push([child, twin]);
      }
    }
    return top.outerHTML;
  };

  const doctype = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\n" : "";
  const html = doctype + (hosts() ? flattened() : document.documentElement ? document.documentElement.outerHTML : "");
  const visit = performance.getEntriesByType("navigation")[0];
  return {
    html: html.length > limit ? "" : html.toWellFormed(),
    size: html.length,
    url: location.href,
    type: document.contentType,
    status: visit ? visit.responseStatus : 0,
  };
}
