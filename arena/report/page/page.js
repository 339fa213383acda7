"use strict";
// The viewer: matches come in packed chunks, a frame for each ply says which shapes come and go.
const SVG = "http://www.w3.org/2000/svg";
const ORDER = { rect: 0, line: 1, disc: 2, text: 3 };
const at = (id) => document.getElementById(id);
const index = JSON.parse(at("index").textContent);
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

function element(name, values, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in values) made.setAttribute(key, values[key]);
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawn(shape, height) {
  const [kind, a, b, c, d, e] = shape;
  if (kind === "rect") return element("rect", { x: a, y: height - b - d, width: c, height: d, class: e });
  if (kind === "line") return element("line", { x1: a, y1: height - b, x2: c, y2: height - d, class: e });
  if (kind === "disc") return element("circle", { cx: a, cy: height - b, r: c, class: d });
  return element("text", { x: a, y: height - b, "font-size": c, class: match.mono ? "mono" : e }, d);
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
  ply = Math.max(0, Math.min(number, match.frames.length - 1));
  const board = at("board"), { width, height } = match;
  board.replaceChildren(...shapesAt(ply).map((shape) => drawn(shape, height)));
  board.setAttribute("viewBox", `-1.1 -0.5 ${width + 1.6} ${height + 1.6}`);
  const square = ply > 0 && match.marks[ply - 1];
  if (square) board.append(element("rect", { x: square[0] - 1, y: height - square[1], width: 1, height: 1, class: "last" }));
  at("slider").value = ply;
  at("ply").textContent = `${ply} / ${match.frames.length - 1}`;
  at("scores").replaceChildren(...match.bots.map((bot, seat) => {
    const span = document.createElement("span");
    span.className = "s" + (seat % 8);
    span.textContent = `${bot} ${match.scores[ply][seat]}`;
    return span;
  }));
  const comment = ply > 0 && match.comments[ply - 1] ? "\n" + match.comments[ply - 1] : "";
  at("notes").textContent = match.notes[ply].join("\n") + comment + (ply === match.frames.length - 1 ? "\n" + match.end : "");
  for (const item of at("moves").children) item.classList.toggle("now", Number(item.dataset.ply) === ply);
  const now = at("moves").querySelector(".now");
  if (now) now.scrollIntoView({ block: "nearest" });
}

function stop() {
  clearInterval(timer);
  timer = null;
  at("play").textContent = "▶ play";
}

function toggle() {
  if (timer) return stop();
  if (ply === match.frames.length - 1) show(0);
  at("play").textContent = "❚❚ pause";
  timer = setInterval(() => (ply < match.frames.length - 1 ? show(ply + 1) : stop()), 500);
}

async function open(number) {
  stop();
  const place = index.findIndex((line) => line.match === number);
  if (place < 0) return;
  match = (await unpack(Math.floor(place / CHUNK)))[place % CHUNK];
  at("viewer").hidden = false;
  at("title").textContent = `match ${number}: ${match.bots.join(", ")}`;
  at("slider").max = match.frames.length - 1;
  at("moves").replaceChildren(...match.actions.map((action, k) => {
    const item = document.createElement("li");
    item.dataset.ply = k + 1;
    item.textContent = `${k + 1}. `;
    const mark = document.createElement("span");
    mark.className = "s" + (action[0] % 8);
    mark.textContent = action[1];
    item.append(mark);
    item.addEventListener("click", () => show(k + 1));
    return item;
  }));
  for (const row of at("rows").children) row.classList.toggle("now", Number(row.dataset.match) === number);
  show(0);
}

function list(wanted) {
  const rows = index.filter((line) => line.text.toLowerCase().includes(wanted.toLowerCase())).slice(0, 500);
  at("rows").replaceChildren(...rows.map((line) => {
    const row = document.createElement("tr");
    row.dataset.match = line.match;
    row.tabIndex = 0;
    for (const cell of [line.match, line.game, line.bots, line.result, line.how]) {
      const made = document.createElement("td");
      made.textContent = cell;
      row.append(made);
    }
    const choose = () => { open(line.match); history.replaceState(null, "", "#match-" + line.match); };
    row.addEventListener("click", choose);
    row.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
    return row;
  }));
  at("found").textContent = rows.length < index.length ? `${rows.length} of ${index.length} shown` : "";
}

for (const line of index) line.text = [line.match, line.game, line.bots, line.how].join(" ");
at("filter").addEventListener("input", (event) => list(event.target.value));
at("first").addEventListener("click", () => { stop(); show(0); });
at("back").addEventListener("click", () => { stop(); show(ply - 1); });
at("next").addEventListener("click", () => { stop(); show(ply + 1); });
at("last").addEventListener("click", () => { stop(); show(match.frames.length - 1); });
at("play").addEventListener("click", toggle);
at("slider").addEventListener("input", (event) => { stop(); show(Number(event.target.value)); });
document.addEventListener("keydown", (event) => {
  if (!match || event.target.tagName === "INPUT") return;
  if (event.key === "ArrowRight") { stop(); show(ply + 1); }
  else if (event.key === "ArrowLeft") { stop(); show(ply - 1); }
  else if (event.key === " " && event.target.tagName !== "BUTTON") { event.preventDefault(); toggle(); }
});
list("");
const wanted = Number(location.hash.replace("#match-", ""));
if (index.length) open(index.some((line) => line.match === wanted) ? wanted : index[0].match);
