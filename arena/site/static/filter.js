"use strict";
// A field with data-filters=ID shows only the rows of that table that have all its words, and says how many they are.
for (const field of document.querySelectorAll("input[data-filters]")) {
  const rows = [...document.getElementById(field.dataset.filters).tBodies[0].rows];
  const said = document.getElementById(field.getAttribute("aria-describedby"));
  const texts = rows.map((row) => row.textContent.toLowerCase());
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    rows.forEach((row, number) => { row.hidden = !words.every((word) => texts[number].includes(word)); });
    said.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length}`;
  });
  field.closest("[hidden]").hidden = false;
}
