// Runs in the page: returns the selection as HTML, or null.
{
  // Elements whose content needs them around it.
  const WRAPS = new Set(["ul", "ol", "dl", "pre", "code", "table", "thead", "tbody", "tr", "blockquote"]);

  const { getter, method } = pagekeep;
  const [nodeType, parentElement] = ["nodeType", "parentElement"].map((name) => getter(Node, name));
  const [localName, innerHtml] = ["localName", "innerHTML"].map((name) => getter(Element, name));
  const [cloneNode, append] = [method(Node, "cloneNode"), method(Element, "append")];
  const [bodyOf, implementation] = ["body", "implementation"].map((name) => getter(Document, name));

  const wrap = (range) => {
    let html = range.cloneContents();
    const common = range.commonAncestorContainer;
    for (let node = nodeType(common) === Node.ELEMENT_NODE ? common : parentElement(common); node; node = parentElement(node)) {
      if (!WRAPS.has(localName(node))) continue;
      const outer = cloneNode(node, false);
      append(outer, html);
      html = outer;
    }
    return html;
  };

  pagekeep.selection = () => {
    const selected = getSelection();
    if (!selected || selected.isCollapsed || !selected.toString().trim()) return null;
    const inert = implementation(document).createHTMLDocument("");
    for (let index = 0; index < selected.rangeCount; index++)
      append(bodyOf(inert), inert.importNode(wrap(selected.getRangeAt(index)), true));
    return innerHtml(bodyOf(inert));
  };
}
