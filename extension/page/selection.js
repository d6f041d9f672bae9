// Runs in the page: returns the selection as HTML, or null.
globalThis.pagekeep ??= {};

{
  // Elements whose content needs them around it.
  const WRAPS = new Set(["ul", "ol", "dl", "pre", "code", "table", "thead", "tbody", "tr", "blockquote"]);

  const wrap = (range) => {
    let html = range.cloneContents();
    const common = range.commonAncestorContainer;
    for (let node = common.nodeType === Node.ELEMENT_NODE ? common : common.parentElement; node; node = node.parentElement) {
      if (!WRAPS.has(node.localName)) continue;
      const outer = node.cloneNode(false);
      outer.append(html);
      html = outer;
    }
    return html;
  };

  globalThis.pagekeep.selection = () => {
    const selected = getSelection();
    if (!selected || selected.isCollapsed || !selected.toString().trim()) return null;
    const inert = document.implementation.createHTMLDocument("");
    for (let index = 0; index < selected.rangeCount; index++)
      inert.body.append(inert.importNode(wrap(selected.getRangeAt(index)), true));
    return inert.body.innerHTML;
  };
}
