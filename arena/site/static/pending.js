"use strict";
// Waits for a page that is being computed. It asks in the background: a server that is away for a moment must not leave
// the browser's own page of errors, from which nothing leads back.
{
  async function look() {
    let seconds = 1;
    try {
      const response = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
      const later = Number(response.headers.get("retry-after"));
      if (response.status !== 202 && (response.ok || !later)) return location.reload();
      seconds = Math.max(1, later);
    } catch {
      seconds = 2;
    }
    setTimeout(look, 1000 * seconds);
  }
  setTimeout(look, 1000);
}
