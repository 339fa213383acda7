// The codec against the golden frames.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { decode, frame } = require("./wire.js");

function show(value) {
  if (typeof value === "string") return `"${value}"`;
  if (Array.isArray(value)) return `[${value.map(show).join(",")}]`;
  if (value !== null && value.constructor === Object)
    return `{${Object.entries(value).map(([key, item]) => `"${key}":${show(item)}`).join(",")}}`;
  return String(value);
}

const lines = fs.readFileSync(path.join(__dirname, "golden_frames.txt"), "utf8").split("\n").filter((line) => line && line[0] !== "#");
for (const line of lines) {
  const [name, hex] = line.split(" ", 2);
  const text = line.slice(name.length + hex.length + 2);
  const value = decode(Buffer.from(hex, "hex").subarray(4));
  assert.strictEqual(show(value), text, `${name}: read differently`);
  assert.strictEqual(frame(value).toString("hex"), hex, `${name}: written differently`);
}
assert(lines.length > 0);
console.log(`${lines.length} frames are read and written as they should be`);
