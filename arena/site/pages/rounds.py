"""Builds the rounds of a tournament for its page, and what its results rest on, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from arena.analysis.measures.rounds_played import Bracket, BracketDuel, RoundCard, rounds_played
from arena.analysis.measures.standings import Standings
from arena.analysis.text.rounds_text import Style, is_decided_otherwise, reason, stage_name
from arena.analysis.text.standings_columns import percent_text
from arena.analysis.text.verdict import conditions_text, cycle_text, untested_text
from arena.base.text import all_of, counted
from arena.site.pages.rounds_model import (
    ShownCard,
    ShownDuel,
    ShownRounds,
    ShownSide,
    ShownStage,
)
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament
from arena.tournament.formats.knockout import DecidedBy

WITH_ROUNDS = ("swiss", "knockout")

_STYLE = Style()


def shown_rounds(store: Store, tournament: StoredTournament) -> ShownRounds | None:
    """Return the rounds of a knockout or a Swiss; None for other formats, and before the first round."""
    if tournament.format not in WITH_ROUNDS or not store.last_round(tournament):
        return None
    played = rounds_played(store, tournament, first=0)
    labels = {name: label for label, name in tournament.definition.shown_names.items()}
    return ShownRounds.of(
        played,
        bracket=() if played.bracket is None else shown_stages(played.bracket, labels, played.departed),
        cards=tuple(shown_card(card, labels, played.departed) for card in played.cards or ()),
    )


def shown_stages(bracket: Bracket, labels: Mapping[str, str], departed: Mapping[str, str]) -> tuple[ShownStage, ...]:
    """Return the stages of a bracket.

    Args:
        labels: ``name@version`` by the name that tables show.
        departed: how an entrant has left, by that name.
    """
    return tuple(
        ShownStage(
            name=stage_name(len(bracket.stages) - number),
            duels=tuple(
                _duel(duel, _is_fed(bracket, number, place), labels, departed) for place, duel in enumerate(stage)
            ),
        )
        for number, stage in enumerate(bracket.stages)
    )


def _is_fed(bracket: Bracket, number: int, place: int) -> bool:
    """Return whether a duel before this one was played, or will be."""
    before = bracket.stages[number - 1][2 * place : 2 * place + 2] if number else ()
    return any(duel.decided_by is not DecidedBy.BYE for duel in before)


def _duel(duel: BracketDuel, is_fed: bool, labels: Mapping[str, str], departed: Mapping[str, str]) -> ShownDuel:
    upper, lower = (
        ShownSide(
            bot=bot,
            label=None if bot is None else labels[bot],
            seed=seed,
            score=score if duel.has_begun else None,
            won=bot is not None and bot == duel.winner,
            departed=departed.get(bot or "", ""),
        )
        for bot, seed, score in zip(duel.bots, duel.seeds, duel.score, strict=True)
    )
    return ShownDuel(
        sides=(upper, lower),
        is_bye=duel.decided_by is DecidedBy.BYE,
        is_fed=is_fed,
        decided=reason(duel, _STYLE) if is_decided_otherwise(duel) else "",
    )


def shown_card(card: RoundCard, labels: Mapping[str, str], departed: Mapping[str, str]) -> ShownCard:
    """Return the card of an entrant of a Swiss; see ``shown_stages``."""
    return ShownCard.of(card, label=labels[card.bot], departed=departed.get(card.bot, ""))


# What a tournament's results rest on, in sentences.

MAX_CYCLES = 5
MAX_NAMES = 8


def findings(table: Standings) -> Iterator[str]:
    """Yield what was counted, and whether a single rating for each bot fits; nothing before the first match."""
    if not table.matches:
        return
    if conditions := conditions_text(table):
        yield conditions
    duplicates = table.matches - table.rated
    if duplicates:
        yield (
            f"{counted(duplicates, 'duplicate match')} {'is' if duplicates == 1 else 'are'} not rated:"
            " their bots always play the same match from that opening."
        )
    if table.adjudicated:
        yield f"{counted(table.adjudicated, 'match')} ended at the limit of plies, ranked by the scores as they stood."
    functions = [line.bot for line in table.lines if line.is_function]
    if functions:
        who = all_of(functions) if len(functions) <= MAX_NAMES else counted(len(functions), "bot")
        yield f"{who} {'is a Python function' if len(functions) == 1 else 'are Python functions'}, not isolated."
    if table.draw_probability is not None:
        yield f"Two equal bots draw with a probability of {percent_text(table.draw_probability)}."
    yield from _about_the_fit(table)


def _about_the_fit(table: Standings) -> Iterator[str]:
    tested = table.consistency
    if tested.phi is None:
        yield untested_text(table)
    elif tested.is_flagged:
        yield (
            "A single rating for each bot does not fit the results: see who beats whom. Their overdispersion is"
            f" φ = {tested.phi:.2f}, which by chance alone has a probability of {percent_text(tested.p_value)}."
        )
    else:
        yield f"A single rating for each bot fits the results: their overdispersion is φ = {tested.phi:.2f}."
    for cycle in tested.cycles[:MAX_CYCLES]:
        yield f"A cycle: {cycle_text(cycle, table.shown_names)}."
