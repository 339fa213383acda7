"""Openings that tell most about the bots, and what openings in a tournament file means."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from arena.base.definition import Definition, GameChoice, GameOpenings
from arena.base.enums import OpeningChoice
from arena.base.errors import DefinitionError, KernelError, UsageError
from arena.base.seeds import derived_seed
from arena.base.text import counted, toml_value
from arena.games import GAMES, Game, make_game
from arena.games.checked_game import checked_game
from arena.games.kernels.loading import kernel_of
from arena.games.kernels.playouts import playout_margin
from arena.games.kernels.slips import MOST_STATES, least_states, may_be_solved, slip_encounters
from arena.tournament.formats.format import Format
from arena.tournament.openings import Opening, distinct_openings, read_book, text_of
from arena.tournament.tournament_file import CommonKeys

# The information of an opening
# -----------------------------
# A tournament wants to know from as few matches as possible which of two bots is stronger. Two model bots make the best
# action, except that one slips in 5 % of its actions and the other in 15 % (``arena.games.kernels.slips``). In an
# encounter from an opening, let X be the points of the stronger one less those of the weaker one, halved: -1, -1/2, 0,
# 1/2 or 1.
# If encounters begin with each of n openings equally often, the mean of X after N of them is known with a standard
# error of sqrt(var X / N), so that N grows with var X / (mean X)^2 for any given accuracy. Its inverse is the
# information of an encounter, and is largest where
#
#     (sum of mean X)^2 / (n times the sum of mean X^2)
#
# is, as mean X is small. This is the square of *normalized Elo* for pairs of games, by which tests of chess engines
# compare opening books (M. Van den Bergh, "Normalized Elo", hardy.uhasselt.be/Toga/normalized_elo.pdf, sections 2 and
# 4), with the same two bots for every opening. An opening that is decided, so that each bot wins from the better seat
# whether it slips or not, has little of it; a draw that no slip changes has none.
#
# Boards that are too large
# -------------------------
# Where there are too many states after an opening to solve them all, nobody knows the best actions. In multiplication,
# random playouts tell which openings are decided: those are chosen from which seat 0 is ahead or behind by the least,
# in the mean of ``arena.games.kernels.playouts``. On boards that can be solved this saves a fifth to a third of the
# matches (benchmarks/README.md); in the other games it saves none for certain, and is not offered.
#
# Whatever is chosen is stored in the definition, so that a run resumes with the same openings on every machine.

SLIPS_PERMILLE = (50, 150)
"""How many of 1,000 actions of the stronger and of the weaker model bot are slips."""

ENCOUNTERS = 1000
"""How many encounters the model bots play from each opening."""

MOST_OPENINGS = 100
"""The most openings that are chosen; a tournament with more encounters plays them again, in another order."""

CANDIDATES = 4
"""How many random openings are evaluated for each one that is chosen."""

LEAST_CANDIDATES = 40

JUDGED_BY_PLAYOUTS = frozenset({"multiplication"})
"""Games in which random playouts tell which openings to choose."""

LEAST_JUDGED_PLIES = 2
"""After a single ply of multiplication, playouts don't tell."""

_MOST_PLIES = 1000
"""The most plies of an opening."""

_STATES = 40_000_000
"""The most states after all candidates together; the first ``LEAST_CANDIDATES`` may have more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """The results of the model bots from an opening: the mean of X, and that of X²."""

    opening: Opening
    lead: float
    square: float


def check_information(choice: GameChoice, plies: int) -> None:
    """Raise DefinitionError if openings of ``plies`` can't be chosen by their information, as far as numbers tell.

    Nothing is solved for it. Where the states after an opening can't be counted (coprimality, games from outside),
    whether there are too many is found out when the tournament begins.
    """
    if choice.players != 2:
        raise DefinitionError(
            f'openings: choose = "information" is for games of two, and {choice.game} is for {choice.players}; expected'
            ' "random"'
        )
    if not _can_be_chosen(choice, plies):
        game = make_game(choice.game, **choice.options)
        more = bisect_left(range(plies, _MOST_PLIES), True, key=lambda number: _can_be_chosen(choice, number))
        enough = plies + more if plies + more < _MOST_PLIES else 0
        raise DefinitionError(_too_many_states(choice, plies, least_states(game, plies), enough))


def _can_be_chosen(choice: GameChoice, plies: int) -> bool:
    return may_be_solved(make_game(choice.game, **choice.options), plies) or is_judged_by_playouts(choice, plies)


def _too_many_states(choice: GameChoice, plies: int, states: int | None, enough: int) -> str:
    """Return why openings can't be chosen: too many ``states`` follow; after ``enough`` plies there may be few."""
    many = "more" if states is None else f"{states:,}" if states < 10**15 else f"about 10^{len(str(states)) - 1}"
    return (
        f'openings: choose = "information": {choice.game} with {toml_value(dict(choice.options))} has {many} states'
        f" after an opening of {counted(plies, 'ply')}, and {MOST_STATES:,} can be solved; expected"
        f' {f"{enough} plies or more" if enough else "more plies"}, a smaller board, or choose = "random"'
    )


def is_judged_by_playouts(choice: GameChoice, plies: int) -> bool:
    """Return whether openings are judged by random playouts, as there are too many states after them to be solved."""
    is_told = choice.game in JUDGED_BY_PLAYOUTS and plies >= LEAST_JUDGED_PLIES
    return is_told and not may_be_solved(make_game(choice.game, **choice.options), plies)


def with_openings(definition: Definition, kind: type[Format[Any]]) -> Definition:
    """Return a definition with its openings chosen, if they are still to be; ``kind`` is the class of its format."""
    if all(openings.lines for openings in definition.openings):
        return definition
    chosen = []
    count = MOST_OPENINGS if kind.needs_results else min(definition.encounters, MOST_OPENINGS)
    for number, (choice, own) in enumerate(zip(definition.games, definition.openings, strict=True)):
        seed = derived_seed("information of openings", definition.rng_seed, number)
        lines = own.lines or _chosen_lines(choice, definition.opening_plies, definition.rng_seed, seed, count)
        chosen.append(replace(own, lines=lines))
    return replace(definition, openings=tuple(chosen))


def has_openings_to_choose(definition: Definition) -> bool:
    """Return whether a definition is still without the openings that tell most."""
    return any(openings.choose is OpeningChoice.INFORMATION and not openings.lines for openings in definition.openings)


def _chosen_lines(choice: GameChoice, plies: int, rng_seed: int, seed: int, count: int) -> tuple[str, ...]:
    game = make_game(choice.game, **choice.options)
    checked = checked_game(game, choice.game)
    drawn = distinct_openings(checked, plies, rng_seed, max(CANDIDATES * count, LEAST_CANDIDATES))
    if is_judged_by_playouts(choice, plies):
        kernel = kernel_of(game)
        if isinstance(kernel, KernelError):
            raise DefinitionError(
                f'openings: choose = "information": {choice.game} with {toml_value(dict(choice.options))} is judged by'
                f' random playouts of its kernel, which is not there: {kernel}; expected more plies, or "random"'
            )
        candidates = list(drawn)
        chosen = most_even(game, candidates, seed, _share(count, len(candidates)))
    else:
        found = list(evaluated(choice, drawn, seed))
        chosen = [one.opening for one in most_informative(found, _share(count, len(found)))]
    return tuple(text_of(checked, opening) for opening in chosen)


def _share(count: int, candidates: int) -> int:
    return min(count, candidates if candidates < LEAST_CANDIDATES else candidates // 2)


def most_even(game: Game[Any], candidates: Sequence[Opening], seed: int, count: int) -> list[Opening]:
    """Return the ``count`` openings from which random playouts end nearest to even, in the order of the candidates."""
    margins = [playout_margin(game, opening, derived_seed(seed, number)) for number, opening in enumerate(candidates)]
    ranked = sorted(range(len(candidates)), key=lambda number: (margins[number].square, number))
    return [candidates[number] for number in sorted(ranked[:count])]


def evaluated(choice: GameChoice, drawn: Iterable[Opening], seed: int) -> Iterator[Evaluated]:
    """Yield openings with what they tell; fewer on a board with many states, but not below ``LEAST_CANDIDATES``."""
    game: Any = make_game(choice.game, **choice.options)
    rules = game if choice.game in GAMES else checked_game(game, choice.game)
    states = 0
    for number, opening in enumerate(drawn):
        if number >= LEAST_CANDIDATES and states > _STATES:
            return
        slips = slip_encounters(
            rules, opening, seed=derived_seed(seed, number), count=ENCOUNTERS, slips_permille=SLIPS_PERMILLE
        )
        if slips is None:
            raise DefinitionError(_too_many_states(choice, len(opening), None, 0))
        states += slips.states
        yield Evaluated(opening=opening, lead=slips.lead, square=slips.square)


def most_informative(candidates: Sequence[Evaluated], count: int) -> list[Evaluated]:
    """Return the ``count`` openings which together tell most, in the order they were found.

    The ratio grows most by the openings with the largest lead - weight * square, where the weight follows from what is
    chosen: so both are found in turn, until nothing changes.
    """
    chosen = list(range(len(candidates)))
    for _ in range(len(candidates)):
        squares = sum(candidates[k].square for k in chosen)
        weight = sum(candidates[k].lead for k in chosen) / (2 * squares) if squares else 0.0
        ranked = sorted(range(len(candidates)), key=lambda k: (weight * candidates[k].square - candidates[k].lead, k))
        better = sorted(ranked[:count])
        if better == chosen:
            break
        chosen = better
    return [candidates[k] for k in chosen]


# What ``openings`` in a tournament file means: drawn at random, chosen for their information, or from a book.

Openings = tuple[tuple[GameOpenings, ...], int]
"""The openings of each game, unless they are drawn at random, and the most plies of one."""


def openings_in(file: CommonKeys, base: Path, games: Sequence[GameChoice], faults: list[str]) -> Openings:
    """Return the openings that a file asks for; what is wrong with them is added to the faults."""
    table = file.openings
    if table is None:
        return (), file.opening_plies
    if not games:  # the file already has a fault for that
        return (), 0
    try:
        if table.plies is None:
            return _book(games, base / (table.book or ""))
        if table.choose == "information":
            for choice in games:
                check_information(choice, table.plies)
            return tuple(GameOpenings(choose=OpeningChoice.INFORMATION) for _ in games), table.plies
    except UsageError as error:
        faults.append(str(error))
    return (), table.plies or 0


def _book(games: Sequence[GameChoice], path: Path) -> Openings:
    if len(games) > 1:
        raise UsageError(f"openings = {str(path)!r}: a book is of one game, and there are {len(games)}")
    openings = read_book(path, games[0])
    game = make_game(games[0].game, **games[0].options)
    lines = tuple(text_of(game, opening) for opening in openings)
    return (GameOpenings(choose=OpeningChoice.BOOK, lines=lines),), max(map(len, openings))
