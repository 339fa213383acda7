"use strict";
// A match against a bot: what is pressed is sent without leaving the page, the page follows the match, the
// arrow keys go over the board, and screen readers hear what happened. Without this script, pages do all of it.
(() => {
  const LOOK_MS = 250, LATER_MS = 1000, MANY_LOOKS = 20, SELDOM_MS = 10000, REFUSED_MS = 30000;
  const status = document.createElement("p");
  status.className = "sr";
  status.setAttribute("role", "status");
  document.body.append(status);
  let looks = 0, timer = 0, isSending = false, isAsking = false, isNews = false, stream = null, isFollowed = false;

  const match = () => document.getElementById("match");
  let shown = match().outerHTML; // as it came: what is done to it here is no news
  const text = (root, selector) => root.querySelector(selector)?.textContent.replace(/\s+/g, " ").trim() ?? "";

  // the board: one place can be reached by Tab, the others by the arrow keys

  const places = () => [...document.querySelectorAll("#board-form .place")];
  let here = ""; // the label of the place where one is, up to what is in it

  const nameOf = (place) => place.getAttribute("aria-label").split(/[:,]/)[0];

  function settle() {
    const all = places();
    if (!all.length) return;
    const current = all.find((one) => nameOf(one) === here) ?? all.find((one) => one.value) ?? all[0];
    for (const one of all) one.tabIndex = one === current ? 0 : -1;
  }

  function go(from, dx, dy) {
    const middle = (one) => { const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
    const [x, y] = middle(from);
    let best = null, least = Infinity;
    for (const one of places()) {
      const [toX, toY] = middle(one), along = (toX - x) * dx + (toY - y) * dy, aside = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
      const cost = along + 4 * aside;
      if (along > 1 && cost < least) { best = one; least = cost; }
    }
    if (!best) return;
    from.tabIndex = -1;
    best.tabIndex = 0;
    here = nameOf(best);
    best.focus();
  }

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  document.addEventListener("keydown", (event) => {
    const place = event.target.closest?.(".place"), step = STEPS[event.key];
    if (!place || !step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    go(place, ...step);
  });
  document.addEventListener("focusin", (event) => { if (event.target.matches?.(".place")) here = nameOf(event.target); });

  // where one was, to be found again in what takes its place: while the bot thinks, most can't be pressed

  let whereOne = null, isLost = false; // isLost: it was where it can't be just now, and nobody has gone elsewhere since
  document.addEventListener("pointerdown", () => { isLost = false; });
  document.addEventListener("focusin", ({ target }) => {
    isLost = false;
    const form = target.form?.getAttribute("action"), value = target.value;
    if (!match().contains(target)) whereOne = null;
    else if (target.matches(".place")) whereOne = () => places().find((one) => nameOf(one) === here);
    else if (target.id) whereOne = () => document.getElementById(target.id);
    else if (form) whereOne = () => [...document.querySelectorAll("#match button")].find((one) => one.value === value && one.form?.getAttribute("action") === form);
    else whereOne = null;
  });

  function goBack() {
    if (!isLost) return;
    const one = whereOne?.() ?? document.querySelector("#match:not([data-waiting]) :is(#typed, .choices button)");
    one?.focus({ preventScroll: true });
    isLost = document.activeElement !== one;
  }

  // where places are too small for a finger, or lines cross the board: a press chooses, and the button beside it plays

  const SMALL = 20;

  function choose(place) {
    document.getElementById("typed").value = place.value;
    place.tabIndex = 0;
    here = nameOf(place);
    place.focus({ preventScroll: true });
    status.textContent = `${place.getAttribute("aria-label")}: chosen`;
  }

  function nearest(x, y) {
    let best = null, least = SMALL;
    for (const line of document.querySelectorAll("#board-form foreignObject:has([value]) + g .preview")) {
      const box = line.getBoundingClientRect();
      const distance = Math.max(box.left - x, x - box.right, 0) + Math.max(box.top - y, y - box.bottom, 0);
      if (distance < least) { least = distance; best = line.closest("g").previousElementSibling.firstElementChild; }
    }
    return best;
  }

  document.addEventListener("click", (event) => {
    const refused = event.target.closest?.(".place[title]"), answer = document.getElementById("answer");
    if (refused && answer) {
      answer.textContent = status.textContent = `${nameOf(refused)}: ${refused.title}.`;
      answer.hidden = false;
    }
    const board = event.target.closest?.("#board-form svg"), place = event.target.closest?.(".place[value]");
    if (!board || !document.getElementById("typed") || event.detail === 0) return; // by the keyboard
    const box = place?.getBoundingClientRect();
    if (box && Math.min(box.width, box.height) >= SMALL) return;
    const chosen = place ?? nearest(event.clientX, event.clientY);
    if (!chosen) return;
    event.preventDefault();
    choose(chosen);
  });

  // what comes back from the server

  function show(page) {
    const old = match(), next = page.getElementById("match");
    if (!next) { location.reload(); return; }
    if (shown !== next.outerHTML) {
      shown = next.outerHTML;
      isLost ||= old.contains(document.activeElement);
      const open = [...old.querySelectorAll("details[id][open]")].map((one) => one.id);
      const copy = document.importNode(next, true);
      const before = text(old, ".said"), answered = text(old, "#answer"), turned = text(old, "#turn");
      old.replaceWith(copy);
      for (const id of open) document.getElementById(id)?.setAttribute("open", "");
      settle();
      goBack();
      const turn = text(copy, "#turn");
      const said = [text(copy, ".notice.bad"), text(copy, "#answer") !== answered ? text(copy, "#answer") : "",
        text(copy, ".said") !== before ? text(copy, ".said") : "", turn !== turned ? turn : ""];
      if (said[2].endsWith(turn)) said[3] = "";
      status.textContent = said.filter(Boolean).join(" ") || status.textContent; // what was said last may not be heard yet
      document.title = page.title;
    }
  }

  async function refresh() {
    clearTimeout(timer);
    isNews = true;
    if (isAsking || isSending) return;
    isAsking = true;
    isNews = false;
    try {
      const response = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!isSending && response.ok) show(page);
    } catch { /* the server is away; it is asked again */ }
    isAsking = false;
    if (isNews && !isSending) refresh();
    else look();
  }

  function look() { // at each event; without a stream of them, while the bot thinks
    clearTimeout(timer);
    if (!match().hasAttribute("data-waiting")) { looks = 0; return; }
    looks += 1;
    timer = setTimeout(refresh, isFollowed ? SELDOM_MS : looks < MANY_LOOKS ? LOOK_MS : LATER_MS);
  }

  function follow() {
    const isSeen = document.visibilityState === "visible";
    if (isSeen === Boolean(stream)) return;
    if (!isSeen) {
      stream.close();
      stream = null;
      isFollowed = false;
      return;
    }
    stream = new EventSource(`${location.pathname}/events`);
    stream.addEventListener("changed", () => { isFollowed = true; refresh(); });
    stream.addEventListener("error", () => { // the browser connects again, unless it was refused
      isFollowed = false;
      look();
      if (stream?.readyState !== EventSource.CLOSED) return;
      setTimeout(() => { stream = null; follow(); }, REFUSED_MS);
    });
  }
  document.addEventListener("visibilitychange", follow);

  function fail(reason) {
    status.textContent = match().querySelector("#turn").textContent = reason;
    shown = ""; // the next page takes its place
  }

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!match().contains(form) || form.getAttribute("action").endsWith("/again")) return;
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    looks = 0;
    const sent = new URLSearchParams(new FormData(form, event.submitter));
    try {
      const response = await fetch(form.getAttribute("action"), { method: "POST", body: sent, headers: { accept: "text/html" } });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (page.getElementById("match")) { show(page); look(); }
      else fail(text(page, "main .verdict") || text(page, "main"));
    } catch {
      fail("The arena can’t be reached now; try again.");
    } finally {
      isSending = false;
      if (isNews) refresh();
    }
  });

  settle();
  look();
  follow();
})();
