"use strict";
// Loads a page that is being computed as soon as it is there; without scripts, it reloads itself each second.
{
  const ask = async () => {
    const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" }).catch(() => null);
    if (answer && answer.status !== 202) location.reload();
    else setTimeout(ask, 1000);
  };
  setTimeout(ask, 500);
}
