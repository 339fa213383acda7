"use strict";
// The viewer of matches: steps through the positions of a match without asking the server.
// A match comes from the element "match-data"; of several ones, packed in chunks, from those that "match-index" names.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const ORDER = { rect: 0, polygon: 0, line: 1, disc: 2, mark: 3, text: 4 };
  const STEP_MS = 700, SWIPE_PIXELS = 40;
  const at = (id) => document.getElementById(id);
  const viewer = at("viewer");
  if (!viewer || !viewer.isConnected) return;

  let match = null, ply = 0, timer = null, saving = null;
  const first = () => match.first_ply || 0;
  const last = () => first() + match.positions.length - 1;
  const position = (number) => match.positions[number - first()];

  // what bots write

  const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
  const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  function escaped(letter) {
    const code = letter.codePointAt(0), hex = code.toString(16);
    if (letter in SHORT) return SHORT[letter];
    return code < 256 ? "\\x" + hex.padStart(2, "0") : code < 65536 ? "\\u" + hex.padStart(4, "0") : "\\U" + hex.padStart(8, "0");
  }
  const visible = (text) => String(text).replace(HIDDEN, escaped);
  const lines = (text) => text.replace(/^\n+|\n+$/g, "").split("\n").map(visible).join("\n");

  // elements

  function drawing(name, values, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const key in values) made.setAttribute(key, values[key]);
    made.append(...children);
    return made;
  }

  function element(name, values, ...children) {
    const made = document.createElement(name);
    for (const key in values) made.setAttribute(key, values[key]);
    made.append(...children);
    return made;
  }

  const key = (seat) => drawing("svg", { class: `key seat${seat % 8}`, viewBox: "0 0 20 20", "aria-hidden": "true" },
    drawing("use", { href: "#mark" + (seat % 4), width: 20, height: 20 }));
  function seconds(value) {
    if (value === null || value === undefined) return "";
    if (value >= 0.9995) return `${value.toFixed(2)} s`;
    const thousandths = 1000 * value;
    return `${thousandths.toFixed(thousandths >= 100 ? 0 : thousandths >= 10 ? 1 : 2)} ms`;
  }

  // the board

  const place = (value) => Math.round(1000 * value) / 1000;

  function drawn(shape, height, isText) {
    const kind = shape[0], words = shape.slice(1).filter((value) => typeof value === "string");
    const [x, y, c, d] = shape.slice(1).map((value) => (typeof value === "number" ? place(value) : value)), up = place(height - y);
    if (kind === "polygon") {
      const points = shape.slice(1, -1).map((value, k) => (k % 2 ? `${place(height - value)} ` : `${place(value)},`));
      return [drawing("polygon", { points: points.join("").trim(), class: words[0] })];
    }
    if (kind === "rect") return [drawing("rect", { x, y: place(height - y - d), width: c, height: d, class: words[0] })];
    if (kind === "line") return [drawing("line", { x1: x, y1: up, x2: c, y2: place(height - d), class: words[0] })];
    if (kind === "disc") return [drawing("circle", { cx: x, cy: up, r: c, class: words[0] })];
    if (kind === "text") return [drawing("text", { x, y: up, "font-size": c, class: isText ? "mono" : words[1] }, visible(words[0]))];
    const label = words[0], size = place(c * (label.length < 3 ? 1.15 : 0.8));
    const mark = { href: "#mark" + (d % 4), class: "seat" + (d % 8), x: place(x - c), y: place(up - c), width: place(2 * c), height: place(2 * c) };
    return [drawing("use", mark), ...(label ? [drawing("text", { x, y: up, "font-size": size, class: "on" }, visible(label))] : [])];
  }

  function shapesAt(index) {
    const { shapes, frames, outlines } = match.board, there = new Set();
    for (const [come, gone] of frames.slice(0, index + 1)) {
      for (const one of gone) there.delete(one);
      for (const one of come) there.add(one);
    }
    const sorted = [...there].map((one) => shapes[one]).sort((p, q) => ORDER[p[0]] - ORDER[q[0]]);
    return outlines[index] ? [...sorted, outlines[index]] : sorted;
  }

  function showBoard() {
    const board = at("board");
    if (!match.board || !board) return;
    const { height, is_text: isText, box } = match.board;
    const { annotation } = position(ply), better = annotation && annotation.better ? [annotation.better] : [];
    board.replaceChildren(...[...shapesAt(ply - first()), ...better].flatMap((shape) => drawn(shape, height, isText)));
    board.setAttribute("viewBox", box.map(place).join(" "));
    board.setAttribute("aria-label", `Board: ${visible(position(ply).said)}`);
  }

  // the seats

  function clocksAt(number) {
    const clocks = [...match.clocks];
    for (const one of match.positions.slice(1, number - first() + 1)) if (one.clock) clocks[one.seat] = one.clock;
    return clocks;
  }

  function showSeats() {
    const clocks = clocksAt(ply), { scores, due } = position(ply);
    for (const item of viewer.querySelectorAll("[data-seat]")) {
      const seat = Number(item.dataset.seat), clock = clocks[seat], bank = clock.bank_seconds;
      item.classList.toggle("due", due === seat);
      item.querySelector(".score").textContent = scores[seat] === null ? "" : String(Number(scores[seat].toFixed(2)));
      const time = item.querySelector(".clock"), asked = match.asked;
      const isRunning = asked && asked.seat === seat && ply === match.plies && typeof asked.allowed_seconds === "number";
      const left = typeof bank === "number" ? bank : asked && asked.allowed_seconds;
      if (!isRunning || !time.dataset.clockSince) time.textContent = typeof bank === "number" ? `${seconds(bank)} left` : seconds(clock.wall_seconds || 0);
      item.querySelector(".cpu").textContent = typeof clock.cpu_seconds === "number" ? `CPU ${seconds(clock.cpu_seconds)}` : "";
      for (const [name, value] of [["clockSeconds", left], ["clockSince", asked && asked.since]]) {
        if (isRunning) time.dataset[name] = value;
        else delete time.dataset[name];
      }
    }
  }

  function seatItem(seat) {
    const version = match.names[seat].includes("@") ? "" : `@${match.bots[seat].split("@")[1] || ""}, `;
    return element("li", { class: `seat${seat % 8}`, "data-seat": seat }, key(seat),
      element("span", { class: "bot" }, element("bdi", {}, visible(match.names[seat])), " ", element("small", {}, visible(`${version}seat ${seat}`))),
      element("span", { class: "times" }, element("b", { class: "clock" }), " ", element("small", { class: "cpu" })),
      element("b", { class: "score" }));
  }

  // the actions and the scores

  function address(number) {
    const here = new URL(location.href);
    here.hash = "";
    here.searchParams.set("ply", number);
    return location.protocol === "file:" ? `#ply-${number}` : here.pathname + here.search;
  }

  function actionItem({ ply: number, seat, text, wall_seconds: wall, annotation }) {
    const mark = annotation && annotation.mark ? [element("em", {}, annotation.mark)] : [];
    const time = number <= (match.opening_plies || 0) ? "opening" : seconds(wall);
    return element("li", {}, element("a", { href: address(number), "data-ply": number }, key(seat),
      element("span", {}, number), element("b", {}, visible(text)), ...mark, element("small", {}, time)));
  }

  function showActions() {
    const list = at("actions");
    for (const link of list.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
    const now = list.querySelector(`[data-ply="${ply}"]`);
    if (!now) return;
    now.setAttribute("aria-current", "step");
    const top = now.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top + now.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
  }

  const WIDTH = 300, HEIGHT = 60;
  const across = (index) => place((WIDTH * index) / Math.max(1, match.positions.length - 1));

  function drawScores() {
    const rows = match.positions.map((one) => one.scores), all = rows.flat();
    const isThere = rows.length > 1 && !all.includes(null);
    at("chart").hidden = !isThere;
    if (!isThere) return;
    let [low, high] = [Infinity, -Infinity];
    for (const value of all) [low, high] = [Math.min(low, value), Math.max(high, value)];
    const down = (value) => place(HEIGHT - 4 - ((HEIGHT - 8) * (value - low)) / (high - low || 1));
    const seats = match.bots.map((_, seat) => drawing("polyline", {
      class: "seat" + (seat % 8), points: rows.map((row, k) => `${across(k)},${down(row[seat])}`).join(" "),
    }));
    const chart = at("scores") || at("chart").appendChild(drawing("svg", { id: "scores", preserveAspectRatio: "none", "aria-hidden": "true" }));
    chart.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    chart.replaceChildren(drawing("line", { class: "cursor", y1: 0, y2: HEIGHT }), ...seats);
  }

  // what positions are worth: every action is a segment

  const STYLES = { "?": " mistake", "??": " blunder" };

  function drawWorths() {
    const figure = at("worth-chart"), margins = match.positions.map((one) => (one.annotation ? one.annotation.margin : undefined));
    if (!figure) return;
    const isThere = (index) => typeof margins[index] === "number";
    let [low, high] = [0, 0];
    for (const value of margins) if (typeof value === "number") [low, high] = [Math.min(low, value), Math.max(high, value)];
    const down = (value) => place(HEIGHT - 4 - ((HEIGHT - 8) * (value - low)) / (high - low || 1));
    const segments = match.positions.flatMap((one, index) => (index && isThere(index - 1) && isThere(index) ? [drawing("line", {
      class: `seat${one.seat % 8}${STYLES[one.annotation.mark] || ""}`,
      x1: across(index - 1), x2: across(index), y1: down(margins[index - 1]), y2: down(margins[index]),
    })] : []));
    figure.hidden = !segments.length;
    if (!segments.length) return;
    const chart = at("worths") || figure.appendChild(drawing("svg", { id: "worths", preserveAspectRatio: "none", "aria-hidden": "true" }));
    chart.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    const zero = drawing("line", { class: "zero", x1: 0, x2: WIDTH, y1: down(0), y2: down(0) });
    chart.replaceChildren(zero, drawing("line", { class: "cursor", y1: 0, y2: HEIGHT }), ...segments);
  }

  function showChoices({ choices = [] }) {
    const table = at("choices");
    if (!table) return;
    table.hidden = !choices.length;
    table.querySelector("tbody").replaceChildren(...choices.map(({ worth, mark = "", actions, played }) => element("tr", {},
      element("td", {}, visible(worth)), element("td", {}, element("em", {}, mark)),
      element("td", {}, ...actions.flatMap((one, index) => [index ? " " : "", one === played ? element("b", {}, visible(one)) : visible(one)])))));
  }

  function showCursor() {
    for (const cursor of document.querySelectorAll("#scores .cursor, #worths .cursor")) {
      for (const name of ["x1", "x2"]) cursor.setAttribute(name, across(ply - first()));
    }
  }

  // a position

  function put(id, text) {
    const there = at(id);
    if (!there) return;
    if (there.textContent !== text) there.textContent = text;
    there.hidden = !text;
  }

  function showLinks() {
    const ends = { first: 0, back: ply - 1, next: ply + 1, last: match.plies };
    for (const link of at("controls").querySelectorAll("[data-go]")) {
      const target = ends[link.dataset.go], isThere = target >= 0 && target <= match.plies && target !== ply;
      if (isThere) {
        link.href = address(target);
        link.removeAttribute("aria-disabled");
        link.removeAttribute("role");
      } else {
        link.removeAttribute("href");
        link.setAttribute("aria-disabled", "true");
        link.setAttribute("role", "link");
      }
    }
    if (at("here")) at("here").href = address(ply);
  }

  function show(wanted) {
    ply = Math.max(first(), Math.min(wanted, last()));
    const now = position(ply);
    showBoard();
    showSeats();
    showActions();
    showCursor();
    showLinks();
    at("slider").value = ply;
    put("ply", `ply ${ply} of ${match.plies}`);
    put("said", visible(now.said));
    put("note", now.notes ? `Note: ${now.notes.map(visible).join("; ")}` : "");
    put("worth", now.annotation ? `Worth: ${now.annotation.worth}` : "");
    showChoices(now.annotation || {});
    const tried = at("try"), before = match.turning && match.turning.ply === ply ? ply - 1 : ply; // the mistake is yours to avoid
    if (tried) [tried.elements.ply.value, tried.hidden] = [before, before >= match.plies];
    put("lines", lines((now.lines || []).join("\n")));
    put("text-board", lines(now.board || ""));
    at("text").hidden = !now.board;
  }

  // stepping: positions that are not here are asked of the server, by the link

  function go(wanted) {
    stop();
    const target = Math.max(0, Math.min(wanted, match.plies));
    if ((target < first() || target > last()) && viewer.dataset.match && !at("match-index") && !match.problem) {
      location.href = address(target);
      return;
    }
    show(wanted);
    clearTimeout(saving);
    const next = match.asked && ply === match.plies ? location.pathname : address(ply); // the latest, while it is played
    saving = setTimeout(() => { try { history.replaceState(null, "", next); } catch { /* not allowed for files */ } }, 400);
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    at("play").textContent = "play";
    at("said").setAttribute("aria-live", "polite");
  }

  function toggle() {
    if (timer) return stop();
    if (ply === last()) show(first());
    at("play").textContent = "pause";
    at("said").setAttribute("aria-live", "off");
    timer = setInterval(() => (ply < last() ? show(ply + 1) : stop()), STEP_MS);
  }

  const goals = { first: () => 0, back: () => ply - 1, next: () => ply + 1, last: () => match.plies };
  const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };

  function pressed(event) {
    const { target } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    const isInside = viewer.contains(target), isNowhere = target === document.body || target.tagName === "MAIN";
    const isFree = event.key.startsWith("Arrow") || at("match-data"); // of one match: nothing else on the page has use for them
    if (target.closest("input, select, textarea, pre, summary") || !(isInside || (isNowhere && isFree))) return;
    if (event.key in KEYS) go(goals[KEYS[event.key]]());
    else if (event.key === " " && !target.closest("button, a")) toggle();
    else return;
    event.preventDefault();
  }

  function clicked(event) {
    const link = event.target.closest("a[data-go], a[data-ply]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (link.hasAttribute("href")) go(link.dataset.ply ? Number(link.dataset.ply) : goals[link.dataset.go]());
  }

  let touched = null;
  function touchEnded(event) {
    const { clientX: x, clientY: y } = event.changedTouches[0];
    if (touched && Math.abs(x - touched.x) > SWIPE_PIXELS && Math.abs(x - touched.x) > 2 * Math.abs(y - touched.y)) go(x < touched.x ? ply + 1 : ply - 1);
    touched = null;
  }

  function pointed(event) {
    const { left, width } = event.currentTarget.querySelector("svg").getBoundingClientRect();
    go(first() + Math.round(((event.clientX - left) / width) * (match.positions.length - 1)));
  }

  // opening a match

  function open(data, wanted) {
    const isOther = viewer.dataset.match !== String(data.match);
    match = data;
    if (isOther) {
      viewer.dataset.match = data.match;
      for (const extra of [...viewer.querySelectorAll(".seats")].slice(1)) extra.remove();
      at("seats").replaceChildren(...match.bots.map((_, seat) => seatItem(seat)));
      at("actions").replaceChildren();
      put("viewer-title", visible(`Match ${match.match}: ${match.names.join(" – ")}`));
      put("result", visible(match.result));
    }
    const list = at("actions"), there = new Set([...list.querySelectorAll("[data-ply]")].map((link) => Number(link.dataset.ply)));
    list.append(...match.positions.filter((one) => one.ply && !there.has(one.ply)).map(actionItem));
    for (const link of list.querySelectorAll("[data-ply]")) if (link.dataset.ply > last()) link.parentNode.remove();
    at("slider").min = first();
    at("slider").max = last();
    drawScores();
    drawWorths();
    show(wanted);
  }

  // One match: while it is played its data is replaced, and whoever looks at the last ply sees the next one.

  const data = () => JSON.parse(at("match-data").textContent);

  function follow() {
    const next = data(), wasLast = ply === last();
    stopIfGone(next);
    if (!next.asked) at("actions").replaceChildren(); // with the marks of an annotation
    open(next, wasLast ? Infinity : ply);
  }

  function stopIfGone(next) {
    if (timer && ply >= next.plies) stop();
  }

  function shown() {
    const asked = /^#ply-(\d+)$/.exec(location.hash) || /[?&]ply=(\d+)/.exec(location.search);
    return Number(asked ? asked[1] : at("slider").defaultValue);
  }

  // Many: a chunk is unpacked when one of its matches is opened.

  const chunks = new Map();

  async function unpack(number) {
    if (!chunks.has(number)) {
      const packed = Uint8Array.from(atob(at("chunk-" + number).textContent), (letter) => letter.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
      chunks.set(number, JSON.parse(await new Response(stream).text()));
    }
    return chunks.get(number);
  }

  async function openNumber(index, number) {
    const where = index.matches.indexOf(number);
    if (where < 0) return false;
    if (match) stop();
    open((await unpack(Math.floor(where / index.chunk)))[where % index.chunk], Infinity);
    for (const row of document.querySelectorAll("#list tr.now")) row.classList.remove("now");
    at("match-" + number)?.closest("tr")?.classList.add("now");
    return true;
  }

  async function openMany() {
    const index = JSON.parse(at("match-index").textContent);
    if (!index.matches.length) return false;
    const followHash = async () => {
      const wanted = /^#match-(\d+)$/.exec(location.hash);
      if (wanted && await openNumber(index, Number(wanted[1]))) viewer.scrollIntoView({ block: "start" });
    };
    addEventListener("hashchange", followHash);
    at("list")?.addEventListener("click", (event) => {
      const link = event.target.closest("a[id]");
      if (link && link.hash === location.hash) followHash();
    });
    viewer.dataset.match = "";
    await openNumber(index, index.first);
    await followHash();
    return true;
  }

  function begin() {
    at("play").hidden = false;
    at("slide").hidden = false;
    at("said").setAttribute("aria-live", "polite");
    at("play").addEventListener("click", toggle);
    at("slider").addEventListener("input", (event) => go(Number(event.target.value)));
    viewer.addEventListener("click", clicked);
    at("turning")?.addEventListener("click", clicked);
    document.addEventListener("keydown", pressed);
    for (const id of ["chart", "worth-chart"]) at(id)?.addEventListener("click", pointed);
    const board = at("board");
    if (!board) return;
    board.addEventListener("touchstart", (event) => { touched = event.touches.length === 1 ? { x: event.touches[0].clientX, y: event.touches[0].clientY } : null; }, { passive: true });
    board.addEventListener("touchend", touchEnded, { passive: true });
  }

  if (at("match-data")) {
    begin();
    open(data(), shown());
    const parent = at("match-data").parentNode;
    new MutationObserver((changes) => {
      if (changes.some((change) => [...change.addedNodes].some((node) => node.id === "match-data"))) follow();
    }).observe(parent, { childList: true });
    addEventListener("hashchange", () => { if (location.hash.startsWith("#ply-")) go(shown()); });
  } else if (at("match-index")) {
    openMany().then((isThere) => { if (isThere) begin(); });
  }
})();
