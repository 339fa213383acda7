"""Builds how far a tournament has got, and who is first in it where that takes no ratings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from arena.base.text import all_of, counted
from arena.site.frame.building import marked, sentence
from arena.site.frame.model import Sentence
from arena.site.pages.rounds_model import (
    PlayingMatch,
    Progress,
)
from arena.store.results.live_state import PlayedNow
from arena.store.results.states import EVERYONE_MEETS, Leaders, first_by_points
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.formats.table import format_class
from arena.tournament.rounds import ranking_of

MAX_PLAYING = 8
"""Matches that are being played, in a page."""


def progress_of(store: Store, tournament: StoredTournament) -> Progress | None:
    """Return what is being played of a tournament; None if no director runs it."""
    if tournament.name not in store.directors():
        return None
    stored = store.live_state(tournament).progress()
    if stored is None:
        return Progress(recorded=tournament.recorded, expected=tournament.scheduled or None)
    run = stored.progress
    return Progress.of(
        run,
        recorded=max(run.recorded, tournament.recorded),
        estimated_at=None if run.seconds_left is None else stored.at,
        playing=_playing(store, tournament, run.playing),
    )


def _playing(store: Store, tournament: StoredTournament, matches: Sequence[PlayedNow]) -> tuple[PlayingMatch, ...]:
    names = list(tournament.definition.shown_names.values())
    live = store.live_state(tournament)
    found = []
    for one in matches[:MAX_PLAYING]:
        line, state = store.scheduled_match(tournament, one.match), live.live_summary(one.match)
        found.append(
            PlayingMatch(
                match=one.match,
                names=tuple(names[seat] for seat in line.seats),
                ply=None if state is None else state.summary.plies,
            )
        )
    return tuple(sorted(found, key=lambda one: one.ply is None))


# Builds who is first in a tournament, in a sentence, where that takes no ratings.

MAX_COUNTED = 10_000
"""The results of a tournament of more matches are not counted for a sentence."""

MAX_WINNERS_NAMED = 4


def winners(store: Store, tournament: StoredTournament) -> Sentence:
    """Return who is first; an empty sentence where that takes ratings, or too long to count."""
    labels = {name: label for label, name in tournament.definition.shown_names.items()}
    if tournament.recorded > MAX_COUNTED:
        return Sentence(text="")
    return sentence(_text(_leaders(_Asked(store, tournament)), tournament.finished_at is not None), labels)


class _Asked:
    """A tournament and its record count, the key under which its leaders are cached."""

    def __init__(self, store: Store, tournament: StoredTournament) -> None:
        self.store, self.tournament = store, tournament
        self._key = (id(store), tournament)

    def __hash__(self) -> int:
        return hash((self._key[0], self.tournament.number, self.tournament.recorded))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self._key == other._key


@lru_cache(maxsize=64)
def _leaders(asked: _Asked) -> Leaders:
    store, tournament = asked.store, asked.tournament
    if tournament.format in EVERYONE_MEETS:
        return first_by_points(store, tournament)
    if not format_class(tournament.definition).has_ranking:
        return Leaders(bots=())
    ranking = ranking_of(store, tournament) or []
    return Leaders(bots=tuple(name for name, placing in ranking if placing.rank == 1))


def _text(leaders: Leaders, is_finished: bool) -> str:
    """Return who is first, with marked names; empty if that is not known."""
    if not leaders.bots:
        return ""
    is_one = len(leaders.bots) == 1
    who = all_of([marked(bot) for bot in leaders.bots])
    if len(leaders.bots) > MAX_WINNERS_NAMED:
        who = counted(len(leaders.bots), "bot")
    so_far = "" if is_finished else "So far, "
    if leaders.score_share is None:
        verb = ("wins" if is_finished else "leads") if is_one else "share the first rank"
        return f"{so_far}{who} {verb}."
    verb = "has" if is_one else "share"
    return f"{so_far}{who} {verb} the highest score, {100 * leaders.score_share:.1f} %."
