"""What is written as blocks: paragraphs, headings, lists, tables, code and quotes."""
