"use strict";
// Keeps a page up to date. When something happens that concerns it, the page is fetched again, and the parts with
// data-live that differ take the place of those here; a part in which text is selected waits. One stream of events serves
// all visible tabs of a browser: the tab that holds the lock reads it, the others hear of it.
{
  const topics = document.body.dataset.topics.split(" "), root = document.documentElement, me = String(Math.random());
  const tabs = new Map(), known = new Map(), shared = navigator.locks && window.BroadcastChannel && new BroadcastChannel("arena");
  let cursor = document.body.dataset.cursor, skew = 0, tries = 0, later = null, retry = null, leave = null, isOver = false;
  let stream = null, page = null, isPostponed = false, isAsking = false, isNews = false, watchdog = null, latePages = 0;
  const parts = (tree) => tree.querySelectorAll("[data-live][id]"), isSeen = () => document.visibilityState === "visible";
  for (const part of parts(document)) known.set(part.id, part.outerHTML);

  // parts

  const steps = (from, to) => { // the way down to an element: ids and links are found wherever they are, the rest by place
    if (to.id) return `#${CSS.escape(to.id)}`;
    if (to.href) return `a[href="${CSS.escape(to.getAttribute("href"))}"]`;
    const path = [];
    for (; to !== from; to = to.parentNode) path.unshift(`:nth-child(${[...to.parentNode.children].indexOf(to) + 1})`);
    return [":scope", ...path].join(">");
  };

  function replace(old, next) {
    const focus = old.contains(document.activeElement) && document.activeElement !== old && steps(old, document.activeElement);
    const scrolled = [old, ...old.querySelectorAll("*")].filter((one) => one.scrollLeft || one.scrollTop);
    const places = scrolled.map((one) => [one === old ? null : steps(old, one), one.scrollLeft, one.scrollTop]);
    const opened = [...old.querySelectorAll("details")].map((one) => [steps(old, one), one.open]);
    old.replaceWith(next);
    return () => { // when tables have their buttons again
      for (const [way, isOpen] of opened) next.querySelector(way)?.toggleAttribute("open", isOpen);
      for (const [way, left, top] of places) (way ? next.querySelector(way) : next)?.scrollTo({ left, top, behavior: "instant" });
      if (focus) next.querySelector(focus)?.focus({ preventScroll: true });
    };
  }

  function show() {
    const selection = getSelection(), after = [];
    isPostponed = false;
    for (const part of parts(document)) {
      const next = page?.getElementById(part.id);
      if (!next || known.get(part.id) === next.outerHTML) continue;
      if (!selection.isCollapsed && selection.containsNode(part, true)) {
        isPostponed = true;
        continue;
      }
      known.set(part.id, next.outerHTML);
      const copy = document.importNode(next, true);
      copy.dataset.live = "";
      after.push(replace(part, copy));
      if (part.matches(".verdict")) say(copy.textContent.trim());
    }
    if (after.length) document.dispatchEvent(new CustomEvent("replaced"));
    for (const one of after) one();
  }

  async function refresh() {
    if (isAsking || !isSeen()) return;
    isAsking = true;
    isNews = false;
    let seconds = 0;
    try {
      const response = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-cache" });
      if (response.ok && !response.redirected) {
        page = new DOMParser().parseFromString(await response.text(), "text/html");
        show();
      }
      isOver = response.redirected || response.status === 404;
      const late = Number(response.headers.get("retry-after")); // a newer one is being built
      latePages = late ? latePages + 1 : 0;
      seconds = late && Math.max(late, Math.min(latePages, 30));
    } catch {
      seconds = 2;
    }
    isAsking = false;
    if (isOver) close();
    else if (isNews || seconds) soon(1000 * seconds);
  }

  function soon(milliseconds) {
    isNews = true;
    if (isAsking || later) return;
    later = setTimeout(() => { later = null; refresh(); }, milliseconds);
  }

  document.addEventListener("selectionchange", () => { if (isPostponed && getSelection().isCollapsed) show(); });

  // events

  function concerns({ kind, id, data }) {
    if (id) cursor = id;
    if (!kind || kind === "reload" || topics.includes(data.topic)) return Boolean(kind);
    return topics.some((topic) => { // what happens in a tournament may concern a match of it
      const match = Number(topic.split(`${data.topic}/matches/`)[1]);
      return match && kind !== "schedule" && kind !== "progress" && (kind !== "results" || data.matches.includes(match) || data.match_count > data.matches.length);
    });
  }

  function hear(event) {
    if (event.kind === "progress" && !document.querySelector("[data-progress]")) return;
    if (!event.kind && document.querySelector("[data-live] .state")) soon(Math.random() * 3000); // a run that was killed
    if (concerns(event)) soon(event.kind === "live" ? 0 : Math.random() * 300); // not everybody at once
  }

  function state(isOpen) {
    if (root.dataset.stream === (isOpen ? "open" : "lost")) return;
    if (root.dataset.stream) say(isOpen ? "Live again." : "Not connected; this page is not up to date.");
    root.dataset.stream = isOpen ? "open" : "lost";
  }

  async function read(signal) {
    const query = new URLSearchParams({ topics: [...new Set([...tabs.values()].flatMap((tab) => tab.topics))].join(",") });
    for (const one of new Set([...tabs.values()].map((tab) => tab.cursor))) if (one) query.append("cursor", one);
    const response = await fetch(`/events?${query}`, { signal, cache: "no-store" });
    if (!response.ok) throw response;
    const offset = Date.parse(response.headers.get("date")) - Date.now();
    skew = Math.abs(offset) > 1500 ? offset : 0;
    tries = 0;
    tell({ state: true, skew });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ; ) {
      clearTimeout(watchdog);
      watchdog = setTimeout(connect, 40000); // nothing for longer than two heartbeats
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        const id = fields.get("id") || "", kind = fields.get("event") || "";
        if (id) for (const tab of tabs.values()) tab.cursor = id;
        if (id || kind) tell({ kind, id, data: kind ? JSON.parse(fields.get("data")) : { topic: "" } });
      }
    }
  }

  async function connect() {
    clearTimeout(retry);
    stream?.abort();
    const own = (stream = new AbortController());
    let seconds = 0;
    try {
      await read(own.signal);
    } catch (problem) {
      if (problem?.status === 404) return;
      seconds = Number(problem?.headers?.get("retry-after")) || 0;
    }
    if (own !== stream) return;
    clearTimeout(watchdog);
    tell({ state: false });
    retry = setTimeout(connect, 1000 * Math.max(seconds, Math.min(30, 2 ** tries++)) * (0.5 + Math.random() / 2));
  }

  function tell(message) {
    if (shared) shared.postMessage(message);
    receive(message);
  }

  function receive(message) {
    if ("skew" in message) skew = message.skew;
    if ("state" in message) state(message.state);
    if ("kind" in message) hear(message);
    if (message.isAsked && isSeen() && !isOver) shared.postMessage({ tab: me, topics, cursor });
    if (!stream || !message.tab) return;
    const tab = tabs.get(message.tab);
    if (!message.topics) tabs.delete(message.tab);
    else tabs.set(message.tab, { topics: message.topics, cursor: message.cursor });
    if (message.topics && !tab) { clearTimeout(retry); retry = setTimeout(connect, 50); }
  }

  function lead() {
    tabs.clear();
    tabs.set(me, { topics, cursor });
    stream = new AbortController();
    shared?.postMessage({ isAsked: true });
    retry = setTimeout(connect, shared ? 50 : 0);
  }

  function open() {
    if (leave || isOver) return;
    const waiting = new AbortController();
    leave = () => waiting.abort();
    if (!shared) return lead();
    shared.onmessage = ({ data }) => receive(data);
    shared.postMessage({ tab: me, topics, cursor });
    navigator.locks.request("arena", { signal: waiting.signal }, () => new Promise((release) => { leave = release; lead(); })).catch(() => {});
  }

  function close() {
    if (!leave) return;
    leave();
    leave = null;
    clearTimeout(retry);
    clearTimeout(watchdog);
    const own = stream;
    stream = null;
    own?.abort();
    if (shared) { shared.onmessage = null; shared.postMessage({ tab: me }); }
  }

  const changed = () => { if (isSeen()) { open(); if (isNews) refresh(); } else close(); };
  document.addEventListener("visibilitychange", changed);
  addEventListener("pagehide", close);
  addEventListener("pageshow", changed);
  addEventListener("online", () => { if (stream) { tries = 0; connect(); } });
  addEventListener("offline", () => stream?.abort());

  // for screen readers, and clocks

  const status = document.createElement("p");
  let saidAt = 0, saying = null;
  status.className = "sr";
  status.setAttribute("role", "status");
  document.body.append(status);
  function say(text) { // at most every twenty seconds, and then the last
    clearTimeout(saying);
    saying = setTimeout(() => { saidAt = Date.now(); status.textContent = text; }, Math.max(1000, saidAt + 20000 - Date.now()));
  }

  function tick() {
    if (!isSeen()) return;
    for (const clock of document.querySelectorAll("[data-clock-since]")) {
      const gone = (Date.now() + skew - Date.parse(clock.dataset.clockSince)) / 1000;
      const left = Math.max(0, clock.dataset.clockSeconds - Math.max(0, gone));
      clock.textContent = `${left < 100 ? left.toFixed(1) : Math.round(left)} s left`;
    }
  }
  setInterval(tick, 100);
  document.addEventListener("replaced", () => requestAnimationFrame(tick)); // before it is seen

  open();
}
