// Characters of text in the page, open shadow roots included, without scripts and styles; and the state of the document.
(() => {
  const unread = "script,style,noscript,template";
  let total = 0;
  const roots = [document];
  for (const root of roots) {
    const top = root === document ? document.body : root;
    if (!top) continue;
    total += top.textContent.length;
    for (const element of top.querySelectorAll(unread)) total -= element.textContent.length;
    const walk = document.createTreeWalker(top, NodeFilter.SHOW_ELEMENT);
    for (let element = walk.currentNode; element; element = walk.nextNode())
      if (element.shadowRoot) roots.push(element.shadowRoot);
  }
  const visit = performance.getEntriesByType("navigation")[0];
  const streaming = visit && visit.responseEnd === 0;
  return [total, streaming ? "streaming" : document.readyState === "loading" ? "loading" : "ready"];
})()
