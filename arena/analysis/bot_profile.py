"""All that is known of one bot: its ratings over time, its rivals, its faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.analysis.encounters import CountedEncounter, count_encounters
from arena.analysis.rating_history import course_over_tournaments
from arena.analysis.standings import Standing, rated_encounters
from arena.errors import UnknownNameError
from arena.ratings.consistency import pair_scores
from arena.ratings.environment import CONFIDENCE_95
from arena.store.store import Store
from arena.store.values import StoredFault, StoredTournament

MOST_FAULTS = 10


@dataclass(frozen=True)
class CoursePoint:
    """A bot's place on the leaderboard of a game after a tournament."""

    game: str
    tournament: str
    at: str
    bots: int
    standing: Standing


@dataclass(frozen=True)
class Rival:
    """How a bot did against another, over all tournaments.

    Attributes:
        rival: ``name@version``.
        score: the share of points, from 0 to 1, by encounters.
        margin: half the width of its 95 % interval.
        encounters: how many.
    """

    rival: str
    score: float
    margin: float
    encounters: int


@dataclass(frozen=True)
class BotPage:
    """All that is known of a bot.

    Attributes:
        label: ``name@version``.
        course: its place after each tournament, game by game.
        rivals: those it does best against first.
        faults: the latest first.
        fault_count: how many there are in all.
    """

    label: str
    course: tuple[CoursePoint, ...]
    rivals: tuple[Rival, ...]
    faults: tuple[StoredFault, ...]
    fault_count: int


def known_bots(tournaments: Sequence[StoredTournament]) -> list[str]:
    """Return the ``name@version`` of everybody who ever took part, the earliest first."""
    return list(dict.fromkeys(bot.label for one in tournaments for bot in one.definition.entrants))


def labels_of(text: str, known: Sequence[str]) -> list[str]:
    """Return the bots that ``name`` (all versions) or ``name@version`` means.

    Raises:
        UnknownNameError: if there is none.
    """
    found = [label for label in known if text in (label, label.rpartition("@")[0])]
    if not found:
        raise UnknownNameError("bot", text, known)
    return found


def bot_page(store: Store, label: str) -> BotPage:
    """Return all that is known of a bot.

    Args:
        store: where tournaments are.
        label: its ``name@version``.
    """
    mine = [one for one in store.tournaments() if label in (bot.label for bot in one.definition.entrants)]
    games = sorted({game for one in mine for game in one.games})
    course = tuple(point for game in games for point in _course(store, game, label, mine))
    encounters = [one for tournament in mine for one in count_encounters(store.results(tournament))]
    faults = store.faults_of(label)
    return BotPage(label, course, tuple(_rivals(encounters, label)), tuple(faults[:MOST_FAULTS]), len(faults))


def _course(store: Store, game: str, label: str, mine: Sequence[StoredTournament]) -> list[CoursePoint]:
    return [
        CoursePoint(game, stage.title, stage.at, len(stage.table.lines), line)
        for stage in course_over_tournaments(store, game, mine)
        for line in stage.table.lines
        if line.label == label
    ]


def _rivals(encounters: Sequence[CountedEncounter], label: str) -> list[Rival]:
    scores = pair_scores(rated_encounters(encounters).items())
    rivals = []
    for (a, b), found in scores.items():
        if label in (a, b):
            score = found.score if label == a else 1.0 - found.score
            rivals.append(Rival(b if label == a else a, score, CONFIDENCE_95 * found.error, found.encounters))
    return sorted(rivals, key=lambda one: (-one.score, one.rival))
