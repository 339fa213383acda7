"""Builds the page of a tournament, with its rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.analysis.measures.balance import schedule_balance
from arena.analysis.measures.rounds_played import Bracket, BracketDuel, RoundCard, rounds_played
from arena.analysis.measures.standings import Standings
from arena.analysis.measures.values import BalanceLine, BotAccuracy
from arena.analysis.text.corrections_table import corrections_table
from arena.analysis.text.rounds_text import Style, is_decided_otherwise, reason, stage_name
from arena.base.definition import Definition
from arena.lab.matches.accuracy import accuracy_of_tournament
from arena.lab.matches.puzzle import may_have_puzzles
from arena.site.frame.model import Sentence
from arena.site.pages.overview import progress_of
from arena.site.pages.results import latest_results
from arena.site.pages.standings import (
    MAX_LINES,
    crosstable_of_first,
    findings,
    more_encounters,
    ranking_sentence,
    rated_tournament,
    shown_ranking,
    standing_line,
    standings_sentence,
)
from arena.site.pages.tournament_model import (
    LoggedCorrection,
    ShownCard,
    ShownDuel,
    ShownRounds,
    ShownSide,
    ShownStage,
    TournamentPage,
    TournamentParameters,
)
from arena.store.home import ArenaHome
from arena.store.results.states import state_of
from arena.store.results.store import Store
from arena.store.results.values import StoredTournament, disqualified
from arena.tournament.formats.format import Placing
from arena.tournament.formats.knockout import DecidedBy
from arena.tournament.rounds import ranking_of

MAX_BALANCED = 20_000
"""The balance of a schedule of more matches is not counted for a page."""

MAX_ANNOTATED = 20_000
"""The accuracy of more matches is not counted for a page."""

MAX_NOTED_CORRECTIONS = 200

EQUAL_ENCOUNTERS = ("round-robin", "gauntlet", "groups")
"""Formats that give every pairing the same number of encounters."""


def build_tournament(home: ArenaHome, parameters: TournamentParameters) -> TournamentPage:
    """Return the page of a tournament; StoreError if a record is malformed."""
    store = home.store
    tournament = store.tournament(parameters.tournament)
    rated = rated_tournament(home, tournament)
    table, definition = rated.table, tournament.definition
    labels = {line.bot: line.label for line in table.lines} | {
        name: label for label, name in definition.shown_names.items()
    }
    ranking = ranking_of(store, tournament)
    return TournamentPage.of(
        tournament,
        definition,
        state=state_of(tournament, store.directors()),
        may_have_puzzles=may_have_puzzles(home.directory, tournament),
        games=definition.games,
        entrants=len(definition.entrants),
        time_control=definition.time_control,
        opening_choice=definition.openings[0].choose if definition.openings else "random",
        verdict=_verdict(table, ranking, labels),
        more_encounters=_more_encounters(tournament, table),
        progress=progress_of(store, tournament),
        players=table.players,
        standings=tuple(standing_line(line) for line in table.lines[:MAX_LINES]),
        ranking=shown_ranking(ranking, labels) if ranking else None,
        crosstable=crosstable_of_first(table, rated.results),
        rounds=shown_rounds(store, tournament),
        latest=latest_results(store, tournament),
        games_played=rated.statistics,
        accuracy=_accuracy(store, tournament),
        findings=tuple(findings(table)),
        decided=table.decided,
        balance=_balance(store, tournament, definition),
        corrections=_corrections(store, tournament),
        disqualified=tuple(definition.entrants[k].label for k in sorted(disqualified(tournament.corrections))),
    )


def _verdict(table: Standings, ranking: Sequence[tuple[str, Placing]] | None, labels: dict[str, str]) -> Sentence:
    """Return what the format's own ranking means, if it has one and a match was played; else what the ratings mean.

    At the end of a Swiss or a knockout the ratings add how sure that is.
    """
    if not ranking or not table.matches:
        return standings_sentence(table)
    sentence = ranking_sentence(ranking, table.is_finished, labels)
    if not table.is_finished or not table.rated:
        return sentence
    return sentence.followed_by(" ", standings_sentence(table, "By the ratings, "))


def _more_encounters(tournament: StoredTournament, table: Standings) -> int | None:
    is_fixed = tournament.format in EQUAL_ENCOUNTERS and tournament.definition.until is None
    if not is_fixed or not tournament.scheduled:
        return None
    planned = tournament.definition.encounters
    return more_encounters(table, planned * tournament.recorded / tournament.scheduled, planned)


def _accuracy(store: Store, tournament: StoredTournament) -> Sequence[BotAccuracy]:
    if not 0 < store.annotations.count(tournament) <= MAX_ANNOTATED:
        return ()
    return accuracy_of_tournament(store, tournament).bots[:MAX_LINES]


def _balance(store: Store, tournament: StoredTournament, definition: Definition) -> tuple[BalanceLine, ...]:
    if tournament.scheduled > MAX_BALANCED:
        return ()
    names = list(definition.shown_names.values())
    return tuple(schedule_balance(store.seatings_counted(tournament), tournament.games, names))


def _corrections(store: Store, tournament: StoredTournament) -> tuple[LoggedCorrection, ...]:
    log = tournament.corrections[-MAX_NOTED_CORRECTIONS:]
    if not log:
        return ()
    _, rows = corrections_table(log, store.corrections.set_aside_counts(tournament))
    return tuple(LoggedCorrection(**{name: row[name] for name in LoggedCorrection.model_fields}) for row in rows)


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
