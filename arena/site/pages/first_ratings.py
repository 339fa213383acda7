"""Ratings of newcomers, as directors rate them in their runs: a few look-ups, where a leaderboard takes all records."""

from __future__ import annotations

from collections.abc import Collection

from arena.site.frame.sentences import marked, sentence
from arena.site.pages.bot_profile_model import BotProfilePage
from arena.site.pages.first_rating import FirstRating
from arena.store.home import ArenaHome
from arena.store.results.store import Store


def first_ratings(store: Store, labels: Collection[str]) -> tuple[FirstRating, ...]:
    """Return how the directors that run now rate some bots, of those that they are least certain of.

    Args:
        store: where the runs are.
        labels: the bots, ``name@version`` each.
    """
    found = []
    for name in sorted(store.directors()) if labels else ():
        stored = store.live_state(store.tournament(name)).progress()
        for one in stored.progress.least_certain if stored is not None else ():
            if one.bot in labels:
                found.append(FirstRating(bot=one.bot, tournament=name, mu=one.mu, margin_95=one.margin_95))
    return tuple(found)


def with_first_ratings(home: ArenaHome, page: BotProfilePage) -> BotProfilePage:
    """Return a page of a bot with ratings of those versions that no leaderboard on it has.

    Args:
        home: where tournaments are played.
        page: as it was built.
    """
    rated = {one.line.label for one in page.ratings if one.line.margin_95 is not None}
    found = first_ratings(home.store, {version.bot for version in page.versions} - rated)
    if found == page.first_ratings:
        return page
    latest = next((one for one in found if one.bot == page.versions[0].bot), None)
    verdict = page.verdict
    if latest is not None:
        so_far = (
            f"is rated {latest.mu:.1f} ± {latest.margin_95:.1f} so far, after its first matches in {latest.tournament}"
        )
        verdict = sentence(f"{marked(latest.bot)} {so_far}.", {latest.bot: latest.bot})
    return page.model_copy(update={"first_ratings": found, "verdict": verdict})
