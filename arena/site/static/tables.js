"use strict";
// Headings of tables with the class "sortable" become buttons that sort by their column; without this file a page has none
// that do nothing. A table that a live page has replaced (event "replaced" at the document) is sorted again as it was.
// A region whose table is too wide for it says how many columns are out of sight.

const orders = new Map();

function sortKey(cell) {
  const text = cell.textContent.trim();
  if (!cell.classList.contains("number")) return text;
  const number = /-?\d+(\.\d+)?/.exec(text.replaceAll(",", "").replace("−", "-"));
  if (!number) return null;
  return Number(number[0]) + (text.startsWith(">") ? 1e-6 : text.startsWith("<") ? -1e-6 : 0);
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function sort(table, column, isDown) {
  const heading = table.tHead.rows[0].cells[column];
  const rows = [...table.tBodies[0].rows].map((row) => [row, sortKey(row.cells[column])]);
  rows.sort(([, a], [, b]) => (a === null || b === null ? (a === null) - (b === null) : isDown ? compare(b, a) : compare(a, b)));
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  table.classList.toggle("resorted", !heading.classList.contains("rank") || isDown);
  table.tBodies[0].append(...rows.map(([row]) => row));
}

function pressed(table, heading) {
  const column = [...heading.parentNode.children].indexOf(heading);
  const was = heading.getAttribute("aria-sort");
  const isDown = was ? was === "ascending" : heading.classList.contains("number") && !heading.classList.contains("rank");
  if (table.id) orders.set(table.id, [column, isDown]);
  sort(table, column, isDown);
}

function prepare() {
  for (const table of document.querySelectorAll("table.sortable:not([data-sorts])")) {
    table.dataset.sorts = "";
    for (const heading of table.tHead.rows[0].cells) {
      if (heading.classList.contains("chart")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => pressed(table, heading));
      heading.append(button);
    }
    if (orders.has(table.id)) sort(table, ...orders.get(table.id));
  }
}

function sayWhatIsHidden(region) {
  const isAtEnd = region.scrollLeft + region.clientWidth >= region.scrollWidth - 1;
  const edge = region.getBoundingClientRect().right + 1;
  const hidden = isAtEnd ? [] : [...region.querySelectorAll("thead tr:last-child > *")].filter((one) => one.getBoundingClientRect().right > edge);
  const columns = hidden.length ? `${hidden.length} more column${hidden.length > 1 ? "s" : ""}` : "more";
  region.dataset.hidden = isAtEnd ? "" : `scroll for ${columns} →`;
}

const regionSizes = new ResizeObserver((entries) => entries.forEach(({ target }) => sayWhatIsHidden(target)));

function prepareRegions() {
  for (const region of document.querySelectorAll(".scroll:not([data-hidden])")) {
    region.addEventListener("scroll", () => sayWhatIsHidden(region), { passive: true });
    regionSizes.observe(region);
    sayWhatIsHidden(region);
  }
}

for (const begin of [prepare, prepareRegions]) {
  document.addEventListener("replaced", begin);
  begin();
}
