"use strict";
// Asks again and again, while it is seen, for a page that no event tells of: what only some may see must not be heard of by
// others, and each request is answered to who may see it. What is done with a newer page: parts.js.
{
  const EVERY_MS = 5000, AWAY_MS = 15000, PATIENCE_MS = 60000;
  let timer = 0, isAsking = false;

  function later(milliseconds) {
    clearTimeout(timer);
    timer = setTimeout(ask, milliseconds);
  }

  async function ask() {
    if (isAsking || document.visibilityState !== "visible") return;
    isAsking = true;
    let wait = AWAY_MS;
    try {
      const options = { headers: { accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) };
      const response = await fetch(location.href, options);
      if (response.redirected || [401, 403, 404].includes(response.status)) return; // it is not shown here any more
      if (response.ok) {
        parts.setTime(Date.parse(response.headers.get("date")));
        parts.show(new DOMParser().parseFromString(await response.text(), "text/html"));
        wait = EVERY_MS;
      }
    } catch { /* the server is away */ }
    isAsking = false;
    later(wait);
  }

  document.addEventListener("visibilitychange", () => later(0));
  later(EVERY_MS);
}
