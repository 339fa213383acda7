"""A person: their bots, how good these are, and what they played."""

from __future__ import annotations

from arena.base.errors import UnknownNameError
from arena.base.text import counted
from arena.site.frame.building import Reading, marked, sentence
from arena.site.frame.model import Sentence
from arena.site.pages.bot_profile import MAX_RANKED, MAX_RESULTS, board_ratings, entered_tournament, ladder_points
from arena.site.pages.overview import best_ranks, known_bots, listed_bot
from arena.site.pages.overview_model import ListedBot
from arena.site.pages.person_model import PersonPage, PersonParameters
from arena.site.pages.results import listed_results
from arena.store.home import ArenaHome


def build_person(home: ArenaHome, parameters: PersonParameters) -> PersonPage:
    """Return the page of a person; UnknownNameError if nobody of this name owns a bot here.

    Who has an account and no bot yet has no page: nobody learns from it who has an account.
    """
    store, person, reading = home.store, parameters.person, Reading()
    tournaments = reading.readable(store.tournaments())
    known = known_bots(tournaments, store.submitted_bots(), store.owners())
    owners = {name: bot.author for name, bot in known.items() if not bot.is_author_claimed}
    own = sorted(name for name, owner in owners.items() if owner == person)
    if not own:
        raise UnknownNameError("person", person, sorted(set(owners.values()) - {""}))
    best = best_ranks(home, tournaments, reading)
    bots = tuple(listed_bot(name, known[name], best.get(name)) for name in own)
    labels = [label for bot in bots for label in bot.versions]
    names = {one.number: one for one in tournaments}
    latest = store.matches_of(labels).latest(MAX_RESULTS)
    entered = [
        (tournament, bot.label)
        for tournament in reversed(tournaments)
        for bot in tournament.definition.entrants
        if bot.label in labels
    ]
    return PersonPage(
        person=person,
        verdict=_verdict(bots),
        bots=bots,
        ratings=tuple(board_ratings(home, tournaments, labels)),
        tournaments=tuple(entered_tournament(home, one, label) for one, label in entered[:MAX_RANKED]),
        entered=len({one.number for one, _ in entered}),
        results=listed_results((names[number], record) for number, record in latest if number in names),
        history=tuple(ladder_points(home, tournaments, labels)),
        left_out=reading.left_out,
    )


def _verdict(bots: tuple[ListedBot, ...]) -> Sentence:
    ranked = [one.best for one in bots if one.best is not None]
    count = counted(len(bots), "bot")
    if not ranked:
        return sentence(f"{count}, without a rating yet.", {})
    best = min(ranked, key=lambda one: ((one.rank - 1) / one.bots, -one.bots))
    text = f"{count}; {marked(best.bot)} is number {best.rank} of {best.bots} in {best.game}."
    return sentence(text, {best.bot: best.bot})
