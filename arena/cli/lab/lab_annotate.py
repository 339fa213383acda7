"""``arena lab annotate``: what the actions of recorded matches lost, and how accurately bots play by that."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import Column, Row, printable, row_of
from arena.base.errors import UsageError
from arena.base.text import all_of, counted
from arena.cli.terminal.common import match_of, open_home, print_json, print_table, sentences_text, show_line
from arena.cli.terminal.options import game_option, json_option, quiet_option, wide_option, within_option
from arena.cli.terminal.streams import FAILED, OK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from arena.analysis.measures.values import BotAccuracy
    from arena.base.records import MatchRecord
    from arena.lab.matches.accuracy import TournamentAccuracy
    from arena.lab.matches.annotating import NotAnnotated
    from arena.lab.matches.annotation import Annotated
    from arena.store.home import ArenaHome
    from arena.store.results.values import StoredTournament


# The table of how well bots play by what is known.

ACCURACY_COLUMNS = [
    Column("bot", "bot", is_number=False),
    Column("matches", "matches", drop_order=3),
    Column("decisions", "decisions", drop_order=2),
    Column("kept", "kept %"),
    Column("mistakes", "?"),
    Column("blunders", "??"),
    Column("earned", "earned", 1, drop_order=1),
    Column("lucky", "lucky", 1, drop_order=1),
    Column("points_known", "of matches", drop_order=4),
]

ACCURACY_TITLE = "Accuracy"
ABOUT_ACCURACY = (
    "By annotated matches: the share of value kept in a decision with 95 % interval; actions that lose margin and that"
    " change the outcome; points held all the way, and points that the other bot had let slip."
)


def accuracy_table(
    bots: Sequence[BotAccuracy], names: Mapping[str, str], formatted: bool = True
) -> tuple[list[Column], list[Row]]:
    return ACCURACY_COLUMNS, [
        row_of(ACCURACY_COLUMNS, bot, bot=names.get(bot.bot, bot.bot), kept=_share_kept(bot, formatted)) for bot in bots
    ]


def report_left_out(accuracy: TournamentAccuracy, tournament: str, names: Mapping[str, str]) -> None:
    """Name on stderr the bots that are not in the table of a tournament, and say how to include them."""
    for match in sorted(set(accuracy.left_out.values())):
        bots = all_of([names.get(bot, bot) for bot, first in accuracy.left_out.items() if first == match])
        again = f"arena lab annotate {shlex.quote(f'{tournament}/{match}')}"
        note = f"the accuracy of {bots} is not shown: that of match {match} is malformed; to annotate it again: {again}"
        click.echo(printable(f"arena: {note}"), err=True)


def _share_kept(bot: BotAccuracy, formatted: bool) -> object:
    share = bot.kept
    if share is None:
        return "-" if formatted else None
    if not formatted:
        return {"value": share.value, "low": share.low, "high": share.high}
    interval = f" [{100 * share.low:.1f}, {100 * share.high:.1f}]" if bot.encounters > 1 else ""
    return f"{100 * share.value:.1f}{interval}"


COUNTS_A_STEP = 20
MAX_REASONS = 5

COLUMNS = [
    Column("ply", "ply"),
    Column("bot", "bot", is_number=False),
    Column("text", "action", is_number=False),
    Column("mark", "mark", is_number=False),
    Column("worth", "worth after it", is_number=False),
    Column("kept_percent", "kept %", 1, drop_order=1),
]


@click.command("annotate")
@click.argument("tournament", metavar="TOURNAMENT or MATCH")
@game_option
@click.option("--again", is_flag=True, help="Annotate matches that are annotated already, too.")
@within_option("How long to search each match, where no table or proof knows its positions.", default="10s")
@quiet_option
@json_option
@wide_option
def annotate(tournament: str, game: str | None, again: bool, within_seconds: float, quiet: bool, as_json: bool) -> int:
    """Find out what the actions of bots in recorded matches lost.

    All matches of TOURNAMENT, or one MATCH.

    \b
    arena lab annotate quickstart
    arena lab annotate quickstart/1

    `?` marks an action that loses margin for certain, `??` one that changes the outcome. For each bot it prints the
    share of value that it keeps in decisions, which is 100 % with perfect play, and its luck-adjusted points and the
    others. Where only bounds are known, an action has a mark only if they prove it.

    The arena keeps annotations apart from the records, which stay as they are; arena replay, arena stats, the report
    and the site show them. Matches that have an annotation keep it.
    """
    from arena.lab.matches.annotating import Annotator, TournamentAnnotator
    from arena.lab.solving.limits import Limits, free_memory_bytes

    with open_home(must_exist=True) as arena_home:
        stored, match = _tournament_and_match(arena_home, tournament)
        stored.require_game(game)
        _require_two(stored, game)
        if match is not None:
            arena_home.store.record_of(stored, match)
        limits = Limits(memory_bytes=free_memory_bytes())
        annotator = partial(Annotator, limits=limits, match_seconds=within_seconds)
        annotated = TournamentAnnotator(arena_home.store, stored, annotator)
        refused = _annotate(annotated.annotate(game, match, again or match is not None), is_quiet=quiet or as_json)
        if match is None:
            _show_tournament(arena_home, stored, game, refused, as_json)
        elif not refused:
            _show_match(arena_home, stored, match, as_json)
    _show_reasons(refused)
    return FAILED if refused else OK


def _tournament_and_match(arena_home: ArenaHome, text: str) -> tuple[StoredTournament, int | None]:
    stored = arena_home.store.find_tournament(text)
    if stored is not None or "/" not in text:
        return stored or arena_home.store.tournament(text), None
    name, number = match_of(text)
    return arena_home.store.tournament(name), number


def _require_two(stored: StoredTournament, game: str | None) -> None:
    players = [choice.players for choice in stored.definition.games if game in (None, choice.game)]
    if 2 not in players:
        problem = f"{stored.name}: a match has {counted(min(players), 'seat')}"
        raise UsageError(f"{problem}; only matches of two can be annotated: for more seats there is no single value")


def _annotate(results: Iterator[Annotated | NotAnnotated], is_quiet: bool) -> list[NotAnnotated]:
    from arena.lab.matches.annotating import NotAnnotated

    refused = []
    for count, result in enumerate(results, 1):
        if isinstance(result, NotAnnotated):
            refused.append(result)
        if not is_quiet and count % COUNTS_A_STEP == 0:
            show_line(counted(count, "match"))
    if not is_quiet:
        show_line()
    return refused


def _show_reasons(refused: list[NotAnnotated]) -> None:
    matches: dict[str, list[int]] = {}
    for refusal in refused:
        matches.setdefault(refusal.reason, []).append(refusal.match)
    for reason, numbers in list(matches.items())[:MAX_REASONS]:
        named = f"match {numbers[0]}" if len(numbers) == 1 else f"{counted(len(numbers), 'match')} from {numbers[0]} on"
        click.echo(printable(f"arena: {named} can't be annotated: {reason}"), err=True)
    if len(matches) > MAX_REASONS:
        click.echo(f"arena: and {len(matches) - MAX_REASONS} more reasons", err=True)


def _show_tournament(
    arena_home: ArenaHome, stored: StoredTournament, game: str | None, refused: list[NotAnnotated], as_json: bool
) -> None:
    from arena.lab.matches.accuracy import accuracy_of_tournament

    accuracy = accuracy_of_tournament(arena_home.store, stored, game)
    annotated = arena_home.store.annotations.count(stored)
    names = stored.definition.shown_names
    columns, rows = accuracy_table(accuracy.bots, names, formatted=not as_json)
    report_left_out(accuracy, stored.name, names)
    if as_json:
        reasons = [{"match": refusal.match, "reason": refusal.reason} for refusal in refused]
        print_json({"tournament": stored.name, "annotated": annotated, "refused": reasons, "bots": rows})
        return
    click.echo(f"{printable(stored.name)}: {counted(annotated, 'match')} of {stored.recorded} annotated")
    if rows:
        click.echo()
        print_table(columns, rows, "text")


def _show_match(arena_home: ArenaHome, stored: StoredTournament, match: int, as_json: bool) -> None:
    from arena.lab.matches.annotation import Annotation
    from arena.site.matches.viewed_match import viewed_match

    record = arena_home.store.record_of(stored, match)
    text = arena_home.store.annotations.find(stored, match)
    if text is None:
        raise UsageError(f"match {match} of {stored.name} was played again meanwhile; annotate it once more")
    annotation = Annotation.from_text(text)
    rows = list(_action_rows(record, annotation, as_json))
    turning = viewed_match(record, stored.definition.shown_names, annotation=annotation, most=1).turning
    if as_json:
        head = {"match": f"{stored.name}/{match}", "game": record.game, "options": record.options}
        print_json({**head, "turning": turning.model_dump() if turning is not None else None, "actions": rows})
        return
    decided = f"{turning.sentence} " if turning is not None else ""
    note = f"{printable(decided)}Margins are the score of seat 0 minus that of seat 1."
    print_table(COLUMNS, rows, "text", sentences_text(note))


def _action_rows(record: MatchRecord, annotation: Any, as_json: bool) -> Iterator[Row]:
    from arena.lab.matches.accuracy import kept_share
    from arena.lab.solving.positions import rules_of
    from arena.lab.solving.worth import ranks_follow_scores, worth_text

    game = rules_of(record.game, dict(record.options))
    follows = ranks_follow_scores(game)
    for index, (seat, action) in enumerate(record.actions):
        is_opening = index < record.opening_plies
        share = None if is_opening else kept_share(annotation.actions[index], follows)
        row: Row = {"ply": index + 1, "text": game.format_action(action), "mark": annotation.mark(index)}
        if as_json:
            before, after = annotation.worths[index], annotation.worths[index + 1]
            worths = {"before": before.to_json(), "after": after.to_json()}
            yield {**row, "seat": seat, "action": action, "is_opening": is_opening, **worths, "kept": share}
        else:
            bot = "opening" if is_opening else f"{record.bots[seat]} (seat {seat})"
            worth = worth_text(annotation.worths[index + 1])
            yield {**row, "bot": bot, "worth": worth, "kept_percent": None if share is None else 100 * share}
