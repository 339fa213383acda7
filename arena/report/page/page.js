
"use strict";
// Sorting of tables, and the viewer: matches come in packed chunks, a frame for each ply says which shapes come and go.
const SVG = "http://www.w3.org/2000/svg";
const ORDER = { rect: 0, polygon: 0, line: 1, disc: 2, mark: 3, text: 4 };
const at = (id) => document.getElementById(id);

function element(name, values, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const key in values) made.setAttribute(key, values[key]);
  made.append(...children);
  return made;
}

// tables

function sortKey(cell) {
  const text = cell.textContent.trim();
  const number = /-?\d+(\.\d+)?/.exec(text.replaceAll(",", ""));
  if (!cell.classList.contains("number")) return text;
  if (!number) return null;
  return Number(number[0]) + (text.startsWith(">") ? 1e-6 : text.startsWith("<") ? -1e-6 : 0);
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortBy(table, heading) {
  const column = [...heading.parentNode.children].indexOf(heading);
  const was = heading.getAttribute("aria-sort");
  const isNumber = heading.classList.contains("number") && !heading.classList.contains("rank");
  const isDown = was ? was === "ascending" : isNumber;
  const rows = [...table.tBodies[0].rows].map((row) => [row, sortKey(row.cells[column])]);
  rows.sort(([, a], [, b]) => (a === null || b === null ? (a === null) - (b === null) : isDown ? compare(b, a) : compare(a, b)));
  for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  table.classList.toggle("resorted", !heading.classList.contains("rank") || isDown);
  table.tBodies[0].append(...rows.map(([row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading));
    heading.append(button);
  }
}

// the viewer

const index = at("index") ? JSON.parse(at("index").textContent) : { matches: [] };
const chunks = new Map();
let match = null, ply = 0, timer = null;

async function unpack(number) {
  if (!chunks.has(number)) {
    const packed = Uint8Array.from(atob(at("chunk-" + number).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    chunks.set(number, JSON.parse(await new Response(stream).text()));
  }
  return chunks.get(number);
}

function key(seat) {
  const svg = element("svg", { class: `key seat${seat % 8}`, viewBox: "0 0 20 20", "aria-hidden": "true" });
  svg.append(element("use", { href: "#mark" + (seat % 4), width: 20, height: 20 }));
  return svg;
}

function drawn(shape) {
  const [kind, x, y, c, d, e] = shape, up = match.height - y;
  if (kind === "polygon") {
    const values = shape.slice(1, -1).map((value, k) => (k % 2 ? match.height - value : value));
    return [element("polygon", { points: values.join(" "), class: shape.at(-1) })];
  }
  if (kind === "rect") return [element("rect", { x, y: up - d, width: c, height: d, class: e })];
  if (kind === "line") return [element("line", { x1: x, y1: up, x2: c, y2: match.height - d, class: e })];
  if (kind === "disc") return [element("circle", { cx: x, cy: up, r: c, class: d })];
  if (kind === "text") return [element("text", { x, y: up, "font-size": c, class: match.mono ? "mono" : e }, d)];
  const size = c * (e.length < 3 ? 1.15 : 0.8);
  return [
    element("use", { href: "#mark" + (d % 4), x: x - c, y: up - c, width: 2 * c, height: 2 * c, class: "seat" + (d % 8) }),
    element("text", { x, y: up, "font-size": size, class: "on" }, e),
  ];
}

function shapesAt(number) {
  const there = new Set();
  for (let k = 0; k <= number; k++) {
    for (const gone of match.frames[k][1]) there.delete(gone);
    for (const come of match.frames[k][0]) there.add(come);
  }
  return [...there].map((k) => match.shapes[k]).sort((p, q) => ORDER[p[0]] - ORDER[q[0]]);
}

function show(number) {
  const last = match.frames.length - 1;
  ply = Math.max(0, Math.min(number, last));
  const board = at("board");
  board.replaceChildren(...shapesAt(ply).flatMap(drawn));
  board.setAttribute("viewBox", match.box.join(" "));
  board.setAttribute("aria-label", `board after ply ${ply} of ${last}`);
  const outline = ply > 0 && match.last[ply - 1];
  if (outline) board.append(...drawn(outline));
  at("slider").value = ply;
  at("ply").textContent = `ply ${ply} of ${last}`;
  const cursor = at("scores").querySelector(".cursor");
  if (cursor) { cursor.setAttribute("x1", across(ply)); cursor.setAttribute("x2", across(ply)); }
  const due = ply < last ? match.actions[ply][0] : -1;
  at("seats").replaceChildren(...match.bots.map((bot, seat) => {
    const item = document.createElement("li"), name = document.createElement("bdi"), score = document.createElement("b");
    item.classList.toggle("due", seat === due);
    name.textContent = bot;
    score.textContent = match.scores[ply][seat];
    item.append(key(seat), name, score);
    return item;
  }));
  const comment = ply > 0 ? match.comments[ply - 1] : "";
  const action = ply > 0 ? `${ply}. ${match.bots[match.actions[ply - 1][0]]}: ${match.actions[ply - 1][1]}` : "the beginning";
  at("comment").textContent = [action, comment, ply === last ? match.end : ""].filter(Boolean).join("; ");
  at("notes").textContent = match.notes[ply].join("\n");
  for (const id of ["first", "back"]) at(id).disabled = ply === 0;
  for (const id of ["next", "last"]) at(id).disabled = ply === last;
  const list = at("actions");
  for (const button of list.querySelectorAll(".now")) { button.classList.remove("now"); button.removeAttribute("aria-current"); }
  const now = ply > 0 ? list.children[ply - 1].firstChild : null;
  if (!now) return;
  now.classList.add("now");
  now.setAttribute("aria-current", "step");
  const top = now.offsetTop - list.offsetTop;
  if (top < list.scrollTop || top + now.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
}

const across = (number) => 4 + (292 * number) / Math.max(1, match.frames.length - 1);

function drawScores() {
  const values = match.scores.map((row) => row.map(Number)), all = values.flat();
  const low = Math.min(...all), span = Math.max(...all) - low || 1;
  const down = (value) => 64 - (56 * (value - low)) / span;
  const lines = match.bots.map((_, seat) => {
    const points = values.map((row, k) => `${across(k).toFixed(1)},${down(row[seat]).toFixed(1)}`).join(" ");
    return element("polyline", { points, class: "seat" + (seat % 8) });
  });
  const cursor = element("line", { y1: 2, y2: 70, class: "cursor" });
  at("scores").setAttribute("viewBox", "0 0 300 72");
  at("scores").replaceChildren(cursor, ...lines);
}

function stop() {
  clearInterval(timer);
  timer = null;
  at("play").textContent = "play";
  at("comment").setAttribute("aria-live", "polite");
}

function toggle() {
  if (timer) return stop();
  if (ply === match.frames.length - 1) show(0);
  at("play").textContent = "pause";
  at("comment").setAttribute("aria-live", "off");
  timer = setInterval(() => (ply < match.frames.length - 1 ? show(ply + 1) : stop()), 600);
}

const jump = (number) => { stop(); show(number); };

function actionItem([seat, text], k) {
  const item = document.createElement("li"), button = document.createElement("button"), number = document.createElement("span");
  button.type = "button";
  const time = document.createElement("small"), what = document.createElement("b");
  number.textContent = k + 1;
  what.textContent = text;
  time.textContent = match.seconds[k];
  button.append(key(seat), number, what, time);
  button.addEventListener("click", () => jump(k + 1));
  item.append(button);
  return item;
}

async function open(number) {
  const place = index.matches.indexOf(number);
  if (place < 0) return false;
  stop();
  match = (await unpack(Math.floor(place / index.chunk)))[place % index.chunk];
  at("viewer-title").textContent = `Match ${number}: ${match.bots.join(" – ")}`;
  at("slider").max = match.frames.length - 1;
  at("actions").replaceChildren(...match.actions.map(actionItem));
  for (const row of document.querySelectorAll("#list tr.now")) row.classList.remove("now");
  at("match-" + number).closest("tr").classList.add("now");
  drawScores();
  show(match.frames.length - 1);
  return true;
}

async function follow() {
  const wanted = /^#match-(\d+)$/.exec(location.hash);
  if (wanted && await open(Number(wanted[1]))) at("viewer").scrollIntoView({ block: "start" });
}

function find(wanted) {
  const rows = [...document.querySelectorAll("#list tbody tr")];
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted.toLowerCase());
  const found = rows.filter((row) => !row.hidden).length;
  at("found").textContent = wanted ? `${found} of ${rows.length}` : "";
}

function pressed(event) {
  if (event.target.tagName === "INPUT" || event.altKey || event.ctrlKey || event.metaKey) return;
  const steps = { ArrowRight: ply + 1, ArrowLeft: ply - 1, Home: 0, End: Infinity };
  if (event.key in steps) jump(steps[event.key]);
  else if (event.key === " " && event.target === at("viewer")) toggle();
  else return;
  event.preventDefault();
}

if (index.matches.length) {
  for (const id of ["controls", "progress", "search", "scores", "scores-title"]) at(id).removeAttribute("hidden");
  at("first").addEventListener("click", () => jump(0));
  at("back").addEventListener("click", () => jump(ply - 1));
  at("next").addEventListener("click", () => jump(ply + 1));
  at("last").addEventListener("click", () => jump(Infinity));
  at("play").addEventListener("click", toggle);
  at("slider").addEventListener("input", (event) => jump(Number(event.target.value)));
  at("filter").addEventListener("input", (event) => find(event.target.value));
  at("viewer").addEventListener("keydown", pressed);
  at("list").addEventListener("click", (event) => {
    const link = event.target.closest("a[id]");
    if (link && link.hash === location.hash) follow();
  });
  addEventListener("hashchange", follow);
  open(index.first).then(follow);
}
