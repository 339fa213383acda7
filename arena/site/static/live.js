"use strict";
// Keeps a page up to date. While it is seen, a stream of events is open; the page is fetched again when the stream opens and
// after each event that concerns it, so that it need not know what it has missed. One stream serves all visible tabs of a
// browser: the tab that holds the lock reads it, the others hear of it. What is done with a newer page: parts.js.
{
  const root = document.documentElement, me = String(Math.random());
  let topics = document.body.dataset.topics.split(" ");
  const shared = navigator.locks && window.BroadcastChannel && new BroadcastChannel("arena");
  const tabs = new Map(), isSeen = () => document.visibilityState === "visible";
  let isAsking = false, isNews = false, isOver = false, asking = null, waits = 0;
  let leave = null, stream = null, connecting = null, isJoined = false, tries = 0;

  // the page

  async function refresh() {
    asking = null;
    if (isAsking || !isSeen()) return;
    isAsking = true;
    isNews = false;
    let seconds = 5; // after an answer that does not say when to ask again, or none
    const patience = new AbortController(), giveUp = setTimeout(() => patience.abort(), 30000);
    try {
      const headers = { accept: "text/html", prefer: "wait=1" }; // rather than what was there before the news
      const response = await fetch(location.href, { headers, cache: "no-cache", signal: patience.signal });
      parts.setTime(Date.parse(response.headers.get("date")));
      isOver = response.redirected || response.status === 404;
      if (response.ok && !isOver) {
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        parts.show(page);
        follow(page.body.dataset.topics);
        seconds = 0;
      }
      seconds = Number(response.headers.get("retry-after")) || seconds; // a newer one is being built
    } catch {}
    clearTimeout(giveUp);
    isAsking = false;
    waits = seconds && waits + 1; // with many who ask, each asks more rarely
    if (isOver) close();
    else if (isNews) soon(0);
    else if (seconds) soon(Math.min(10, Math.max(seconds, waits)));
  }

  function follow(newer) { // a page that has gone on to another match
    if (!newer || newer === topics.join(" ")) return;
    topics = newer.split(" ");
    if (leave) tell({ tab: me, topics });
  }

  function soon(seconds) {
    isNews = true;
    if (!isAsking) asking ??= setTimeout(refresh, 1000 * seconds);
  }

  // events

  const concerns = ({ topic, matches, match_count }) => topics.some((one) => one === topic || (one.startsWith(`${topic}/`)
    && (!matches || matches.length < match_count || matches.includes(Number(one.split("/").pop())))));

  function hear(kind, data) {
    if (kind === "progress" && !document.querySelector("[data-progress]")) return;
    if (kind === "alive" && document.querySelector("[data-live] .state")) soon(3 * Math.random()); // a run that was killed
    if (kind === "reload" || concerns(data)) soon(kind === "live" ? 0 : 0.3 * Math.random()); // not everybody at once
  }

  function state(isOpen) {
    const now = isOpen ? "open" : "lost", before = root.dataset.stream;
    root.dataset.stream = now;
    if (before && before !== now) parts.say(isOpen ? "Live again." : "Not connected; this page is not up to date.");
    if (!isOpen) return;
    clearTimeout(asking);
    asking = null;
    waits = 0;
    soon(before ? 0.3 * Math.random() : 0);
  }

  async function read(signal) {
    const all = [...new Set([...tabs.values()].flat())];
    const response = await fetch(`/events?topics=${encodeURIComponent(all)}`, { signal, cache: "no-store" });
    if (!response.ok) throw response;
    tries = 0;
    tell({ isOpen: true });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ; ) {
      const { value, done } = await reader.read();
      if (done) return;
      if (!isJoined) connect(40); // a tab that has just come waits for its own
      const blocks = (text + value).split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const [, kind, data] = /^event: (.*)\n(?:id.*\n)?data: (.*)/.exec(block) || [];
        if (kind) tell({ kind, data: JSON.parse(data) });
        else if (block.startsWith(":")) tell({ kind: "alive", data: {} });
      }
    }
  }

  async function readAll() {
    stream?.abort();
    const own = (stream = new AbortController());
    let seconds = 0;
    isJoined = false;
    connect(40); // if nothing comes for longer than two heartbeats
    try {
      await read(own.signal);
    } catch (problem) {
      seconds = Number(problem.headers?.get("retry-after")) || 0;
      if (problem.status === 404) tell({ kind: "reload" }); // a tab whose page is gone leaves
    }
    if (own !== stream) return;
    tell({ isOpen: false });
    connect(Math.max(seconds, Math.min(30, 2 ** tries++)) * (0.5 + Math.random() / 2));
  }

  function connect(seconds) {
    clearTimeout(connecting);
    connecting = setTimeout(readAll, 1000 * seconds);
  }

  // tabs

  function tell(message) {
    shared?.postMessage(message);
    receive(message);
  }

  function receive({ isOpen, kind, data, isAsked, tab, topics: wanted }) {
    if (isOpen !== undefined) state(isOpen);
    if (kind) hear(kind, data);
    if (isAsked && isSeen() && !isOver) shared.postMessage({ tab: me, topics });
    if (!stream || !tab) return;
    if (!wanted) return tabs.delete(tab);
    tabs.set(tab, wanted);
    isJoined = true;
    connect(0.05);
  }

  function lead() {
    tabs.clear();
    tabs.set(me, topics);
    stream = new AbortController();
    shared?.postMessage({ isAsked: true });
    connect(shared ? 0.05 : 0);
  }

  function open() {
    if (leave || isOver) return;
    const waiting = new AbortController();
    leave = () => waiting.abort();
    if (!shared) return lead();
    shared.onmessage = ({ data }) => receive(data);
    shared.postMessage({ tab: me, topics });
    navigator.locks.request("arena", { signal: waiting.signal }, () => new Promise((release) => { leave = release; lead(); })).catch(() => {});
  }

  function close() {
    if (!leave) return;
    leave();
    leave = null;
    clearTimeout(connecting);
    const own = stream;
    stream = null;
    own?.abort();
    if (shared) { shared.onmessage = null; shared.postMessage({ tab: me }); }
  }

  const changed = () => { if (isSeen()) open(); else close(); };
  document.addEventListener("visibilitychange", changed);
  addEventListener("pagehide", close);
  addEventListener("pageshow", changed);
  addEventListener("online", () => { if (stream) readAll(); });
  addEventListener("offline", () => stream?.abort());

  open();
}
