"""Builds lists of matches and results, feeds, and ratings of newcomers; each takes a few look-ups."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from hashlib import blake2b

from arena.base.errors import UnknownNameError
from arena.base.names import find_labels
from arena.base.records import MatchRecord
from arena.site.frame.building import authors_of, marked, sentence
from arena.site.pages.bot_profile_model import BotProfilePage
from arena.site.pages.results_model import (
    MAX_ENTRIES,
    Feed,
    FeedEntry,
    ListedMatch,
    ListedResult,
    MatchesPage,
    MatchesParameters,
    tag_uri,
)
from arena.site.pages.standings_model import FirstRating
from arena.store.home import ArenaHome
from arena.store.results.match_line import MatchLine
from arena.store.results.match_lists import MatchFilter
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament

LATEST = 8
"""How many results of a tournament a page has."""


def latest_results(store: Store, tournament: StoredTournament) -> tuple[ListedResult, ...]:
    """Return the latest matches of a tournament, the last first."""
    last = store.records(tournament).last(LATEST) if tournament.recorded else []
    return listed_results((tournament, record) for record in reversed(last))


def listed_results(pairs: Iterable[tuple[StoredTournament, MatchRecord]]) -> tuple[ListedResult, ...]:
    """Return matches as lists show them."""
    return tuple(
        listed_result(tournament.name, record, tournament.definition.shown_names) for tournament, record in pairs
    )


def listed_result(tournament: str, record: MatchRecord, names: Mapping[str, str]) -> ListedResult:
    """Return a match as lists show it; ``tournament`` is its present name, ``names`` is what tables call the bots."""
    return ListedResult.of(
        record,
        tournament=tournament,
        names=tuple(names.get(label, label) for label in record.bots),
        plies=len(record.actions),
    )


_BEGINNING = "1970-01-01T00:00:00+00:00"
"""The time of a feed without any: an early version stored its matches, or nothing has happened."""


def tournament_feed(home: ArenaHome, name: str) -> Feed:
    """Return the latest results of a tournament; UnknownNameError if it does not exist."""
    tournament = home.store.tournament(name)
    last = home.store.records(tournament).last(MAX_ENTRIES) if tournament.recorded else []
    id_text = tag_uri(tournament.created_at, "tournament", _identity(tournament))
    return _feed(id_text, tournament.name, tournament.created_at, ((tournament, record) for record in last))


def bot_feed(home: ArenaHome, bot: str) -> Feed:
    """Return the latest results of a bot (NAME or NAME@VERSION); UnknownNameError if it does not exist."""
    tournaments = home.store.tournaments()
    entered = {label for tournament in tournaments for label in tournament.definition.shown_names}
    labels = find_labels(bot, sorted(entered | {submitted.label for submitted in home.store.submitted_bots()}))
    numbered = {tournament.number: tournament for tournament in tournaments}
    latest = home.store.matches_of(labels).latest(MAX_ENTRIES)
    id_text = tag_uri(_BEGINNING, "bot", blake2b(bot.encode(), digest_size=8).hexdigest())
    return _feed(id_text, bot, _BEGINNING, ((numbered[k], record) for k, record in latest if k in numbered))


def _feed(id_text: str, of: str, begun_at: str, matches: Iterable[tuple[StoredTournament, MatchRecord]]) -> Feed:
    latest_first = sorted(
        (_entry(tournament, record) for tournament, record in matches),
        key=lambda entry: (entry.at, entry.result.match),
        reverse=True,
    )
    at = latest_first[0].at if latest_first else begun_at
    return Feed(id=id_text, title=f"Results of {of}", at=at, entries=tuple(latest_first))


def _entry(tournament: StoredTournament, record: MatchRecord) -> FeedEntry:
    at = record.started_at or tournament.created_at
    authors = authors_of([tournament])
    return FeedEntry(
        id=tag_uri(tournament.created_at, "tournament", _identity(tournament), "match", str(record.match), at),
        result=listed_result(tournament.name, record, tournament.definition.shown_names),
        at=at,
        authors=tuple(sorted({authors[label] for label in record.bots if label in authors})),
    )


def _identity(tournament: StoredTournament) -> str:
    """Return what a tournament keeps when it is renamed."""
    return blake2b(f"{tournament.number} {tournament.created_at}".encode(), digest_size=8).hexdigest()


# Ratings of newcomers by the directors of running ladders take a few look-ups; a leaderboard would take all records.


def first_ratings(store: Store, labels: Collection[str]) -> tuple[FirstRating, ...]:
    """Return the ratings of the bots of which running directors are least certain."""
    ratings = []
    for name in sorted(store.directors()) if labels else ():
        stored = store.live_state(store.tournament(name)).progress()
        for rated in stored.progress.least_certain if stored is not None else ():
            if rated.bot in labels:
                ratings.append(FirstRating(bot=rated.bot, tournament=name, mu=rated.mu, margin_95=rated.margin_95))
    return tuple(ratings)


def with_first_ratings(home: ArenaHome, page: BotProfilePage) -> BotProfilePage:
    """Return a page of a bot with ratings of those versions that no leaderboard on it has."""
    rated = {rating.line.label for rating in page.ratings if rating.line.margin_95 is not None}
    found = first_ratings(home.store, {version.bot for version in page.versions} - rated)
    if found == page.first_ratings:
        return page
    latest = next((rating for rating in found if rating.bot == page.versions[0].bot), None)
    verdict = page.verdict
    if latest is not None:
        so_far = (
            f"is rated {latest.mu:.1f} ± {latest.margin_95:.1f} so far, after its first matches in {latest.tournament}"
        )
        verdict = sentence(f"{marked(latest.bot)} {so_far}.", {latest.bot: latest.bot})
    return page.model_copy(update={"first_ratings": found, "verdict": verdict})


def build_matches(home: ArenaHome, parameters: MatchesParameters) -> MatchesPage:
    """Build a page of matches.

    Raises:
        UnknownNameError: if the tournament, a bot or the game does not exist.
        StoreError: if what is stored is malformed.
    """
    tournament = home.store.tournament(parameters.tournament)
    _check_names(tournament, parameters)
    chosen = MatchFilter(
        bot=parameters.bot or None,
        rival=parameters.rival or None,
        game=parameters.game or None,
        termination=parameters.termination,
        fault=parameters.fault,
    )
    lists, number = home.store.match_lists, tournament.number
    older: int | None
    newer: int | None
    if parameters.after is not None:
        page = lists.page(number, chosen, after=parameters.after, oldest_first=True, limit=parameters.limit)
        lines, newer, older = page.lines[::-1], page.next, parameters.after + 1
    else:
        page = lists.page(number, chosen, after=parameters.before, limit=parameters.limit)
        lines, older = page.lines, page.next
        newer = None if parameters.before is None else parameters.before - 1
    names = tournament.definition.shown_names
    return MatchesPage(
        tournament=tournament.name,
        recorded=tournament.recorded,
        matches=tuple(_listed(line, names) for line in lines),
        older=older,
        newer=newer,
        games=tuple(dict.fromkeys(tournament.games)),
        names=tuple(sorted({entrant.name for entrant in tournament.definition.entrants} | set(names.values()))),
    )


def _check_names(tournament: StoredTournament, parameters: MatchesParameters) -> None:
    entrants = tournament.definition.entrants
    known = {name for bot in entrants for name in (bot.name, bot.label)}
    for name in filter(None, (parameters.bot, parameters.rival)):
        if name not in known:
            raise UnknownNameError("bot", name, sorted({bot.name for bot in entrants}))
    tournament.require_game(parameters.game or None)


def _listed(line: MatchLine, names: Mapping[str, str]) -> ListedMatch:
    return ListedMatch.of(
        line,
        names=tuple(names.get(bot, bot) for bot in line.bots),
        scores=line.scores and tuple(score if math.isfinite(score) else None for score in line.scores),
        faults=line.faults or (),
        started_at=line.started_at or None,
    )
