"use strict";
// Headings of tables become buttons that sort by their column; without this file a page has none that do nothing.
