"use strict";
// The parts of a live page. Those of a newer page that differ take the place of those here, one in which text is selected
// waits; screen readers hear the new verdict; and clocks run.
const parts = (() => {
  const known = new Map(), all = () => document.querySelectorAll("[data-live][id]");
  let page = null, isPostponed = false;
  for (const part of all()) known.set(part.id, part.outerHTML);

  const way = (from, to) => { // down to an element: ids and links are found wherever they are, the rest by place
    if (to === from) return ":scope";
    if (to.id) return `#${CSS.escape(to.id)}`;
    if (to.href) return `a[href="${CSS.escape(to.getAttribute("href"))}"]`;
    return `${way(from, to.parentNode)}>:nth-child(${[...to.parentNode.children].indexOf(to) + 1})`;
  };

  const isTyped = (one) => one.defaultValue !== undefined && one.value !== one.defaultValue;
  const isFromBefore = (one) => one.name === "before" && [...one.form.elements].some(isTyped); // the page that was changed

  function replace(old, next) { // returns what is left to do when tables have their buttons again
    const kept = [];
    for (const one of [old, ...old.querySelectorAll("*")]) {
      const { scrollLeft: left, scrollTop: top, open } = one, hasFocus = one === document.activeElement;
      const typed = isTyped(one) || isFromBefore(one) ? one.value : undefined;
      if (left || top || hasFocus || typed !== undefined || one.matches("details")) kept.push([one === old ? "" : way(old, one), left, top, open, hasFocus, typed]);
    }
    old.replaceWith(next);
    return () => {
      for (const [steps, left, top, open, hasFocus, typed] of kept) {
        const one = steps ? next.querySelector(steps) : next;
        if (open !== undefined) one?.toggleAttribute("open", open);
        if (typed !== undefined && one) one.value = typed;
        if (left || top) one?.scrollTo({ left, top, behavior: "instant" });
        if (hasFocus) one?.focus({ preventScroll: true });
      }
    };
  }

  function show(newer = page) {
    page = newer;
    const selection = getSelection(), after = [];
    isPostponed = false;
    for (const part of all()) {
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

  document.addEventListener("selectionchange", () => { if (isPostponed && getSelection().isCollapsed) show(); });

  const status = document.createElement("p");
  let saidAt = 0, saying = null;
  status.className = "sr";
  status.setAttribute("role", "status");
  document.body.append(status);
  function say(text) { // at most every twenty seconds, and then the last
    clearTimeout(saying);
    saying = setTimeout(() => { saidAt = Date.now(); status.textContent = text; }, Math.max(1000, saidAt + 20000 - Date.now()));
  }

  // clocks

  const begun = Date.now(), calm = matchMedia("(prefers-reduced-motion: reduce)");
  let offset = 0; // of the server's clock

  function setTime(now) {
    offset = Math.abs(now - Date.now()) > 1500 ? now - Date.now() : 0;
  }

  function duration(seconds) { // as duration_text in arena/base/text.py
    for (const [unit, name] of [[86400, "days"], [3600, "h"]]) if (seconds >= 2 * unit) return `${Number((seconds / unit).toFixed(1))} ${name}`;
    return seconds >= 120 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds)} s`;
  }

  function tick() {
    if (document.visibilityState !== "visible") return;
    for (const clock of document.querySelectorAll("[data-clock-seconds], [data-clock-until]")) {
      const { clockSince, clockSeconds, clockUntil, clockAbout } = clock.dataset;
      if (clockAbout !== undefined && calm.matches) continue;
      const since = clockSince ? Date.parse(clockSince) - offset : begun; // without a time: since the page was there
      const left = Math.max(0, clockUntil ? (Date.parse(clockUntil) - offset - Date.now()) / 1000 : clockSeconds - Math.max(0, (Date.now() - since) / 1000));
      const text = clockAbout !== undefined ? duration(left) : `${left < 100 ? left.toFixed(1) : Math.round(left)} s left`;
      if (clock.textContent !== text) clock.textContent = text;
    }
  }
  setInterval(tick, 100);
  document.addEventListener("replaced", () => requestAnimationFrame(tick)); // before it is seen

  return { show, say, setTime };
})();
