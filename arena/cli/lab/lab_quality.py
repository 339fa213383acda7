"""``arena lab quality``: eleven measures of what a game is like to play."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.cli.terminal.common import check_directories, write_file
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import (
    A_PATH,
    WholeNumber,
    options_option,
    quiet_option,
    rng_seed_option,
    within_option,
)
from arena.cli.terminal.streams import OK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.games import Game
    from arena.lab.measures.answers import Answer, Comparison
    from arena.lab.measures.measure import Row
    from arena.lab.measures.report import QualityReport
    from arena.lab.measures.survey import Plan

WIDTH = 80
_LABEL = 42
_NARROW = 34


@click.command("quality")
@click.argument("game")
@options_option
@click.option("--compare", metavar="NAME=A,B", help="Measure two values of an option and put them side by side.")
@click.option(
    "--encounters",
    type=WholeNumber(10, 100_000),
    default=200,
    show_default=True,
    help="Observations for each number that is sampled.",
)
@click.option(
    "--doublings",
    type=WholeNumber(0, 12),
    default=3,
    show_default=True,
    help="How often the playouts of the search are doubled, from 8 on.",
)
@rng_seed_option
@within_option("Stop after 60s, 5m or 2h for each set of options, with fewer observations.")
@click.option("--json", "json_file", metavar="FILE", type=A_PATH, help="Write it as JSON.")
@click.option("--html", "html_file", metavar="FILE", type=A_PATH, help="Write it as a page.")
@quiet_option
def quality(
    game: str,
    options: tuple[str, ...],
    compare: str | None,
    encounters: int,
    doublings: int,
    rng_seed: int,
    within_seconds: float | None,
    json_file: Path | None,
    html_file: Path | None,
    quiet: bool,
) -> int:
    """Say what GAME is like to play.

    Is it fair, at which size, how deep is it, how often is it drawn?

    \b
    arena lab quality differences -o size=6
    arena lab quality differences -o size=6 \\
        --compare scoring=distinct,once --html quality.html

    Eleven measures, each number with its 95 % interval and the number of observations. They come from matches that the
    command simulates by the rules or the game's kernel, without bots, and from exact values where a table has them. The
    same seed gives the same numbers, on any machine with a compiler, unless --within ends before all observations are
    made. --compare also counts the votes of visitors of this arena's site who have played both there.
    """
    from arena.games import parse_options
    from arena.lab.measures.answers import Comparison, count_votes
    from arena.lab.measures.survey import Plan
    from arena.store.home import votes_between

    plan = Plan(
        encounters=encounters, doublings=doublings, rng_seed=rng_seed, within_seconds=within_seconds or float("inf")
    )
    check_directories(json_file, html_file)
    values = parse_options(game, options)
    result: QualityReport | Comparison
    if compare is None:
        result = _surveyed(_rules(game, values), game, plan, quiet)
        text = _report_text(result)
    else:
        name, first_value, second_value = _compared(game, compare, values)
        both_rules = [_rules(game, {**values, name: value}) for value in (first_value, second_value)]
        found = votes_between(game, global_option("home"))  # first, for it may be unreadable
        first, second = (_surveyed(rules, game, plan, quiet) for rules in both_rules)
        votes = count_votes(found, game, (first.options, second.options))
        result = Comparison(option=name, values=(first_value, second_value), reports=(first, second), votes=votes)
        text = _comparison_text(result)
    if not quiet:
        click.echo(text)
    if json_file is not None:
        write_file(json_file, json.dumps(result.to_json(), indent=1) + "\n")
    if html_file is not None:
        from arena.site.publish.one_file import quality_page

        write_file(html_file, quality_page(result))
    return OK


def _compared(game: str, text: str, values: dict[str, Any]) -> tuple[str, Any, Any]:
    from arena.games import parse_options

    name, equals, values_text = text.partition("=")
    texts = [value.strip() for value in values_text.split(",")]
    name = name.strip()
    if not equals or len(texts) != 2 or not all(texts) or texts[0] == texts[1]:
        raise UsageError(f"--compare {text!r}: expected an option and two values, such as scoring=distinct,once")
    if name in values:
        raise UsageError(f"--compare {text!r}: {name} is given by --option as well")
    first, second = (parse_options(game, [f"{name}={value}"])[name] for value in texts)
    return name, first, second


def _rules(game: str, values: dict[str, Any]) -> Game[Any]:
    from arena.lab.solving.positions import rules_of

    rules = rules_of(game, values)
    if rules.players < 2:
        raise UsageError(f"players = {rules.players}: expected a game for two or more")
    return rules


def _surveyed(rules: Game[Any], game: str, plan: Plan, is_quiet: bool) -> QualityReport:
    from arena.lab.measures.report import survey_quality
    from arena.lab.measures.survey import MOST_MEMORY_BYTES
    from arena.lab.solving.limits import Limits, free_memory_bytes

    def report(text: str) -> None:
        if not is_quiet:
            click.echo(printable(f"{game}: {text} …"), err=True)

    memory_bytes = min(free_memory_bytes(), MOST_MEMORY_BYTES)
    return survey_quality(rules, game, plan, Limits(memory_bytes=memory_bytes), report)


def _report_text(report: QualityReport) -> str:
    from arena.lab.measures.answers import answers_of

    options = ", ".join(f"{name}={value}" for name, value in report.options.items())
    lines = [printable(f"{report.game} {options}")]
    for number, measure in enumerate(report.measures, 1):
        lines += ["", f"{number:>2} {measure.title}"]
        lines += [_line(row) for row in measure.rows if not row.at.startswith("ply ")]
        if note := measure.note or ("" if measure.rows else "No observations."):
            lines += _indented(note)
    lines += ["", *textwrap.wrap(_LEGEND.format(seed=report.plan.rng_seed), WIDTH)]
    return "\n".join([*lines, *_answer_lines(answers_of(report))])


def _answer_lines(answers: Sequence[Answer]) -> list[str]:
    lines = []
    for question, paragraphs in answers:
        lines += ["", question]
        for text in paragraphs:
            lines += _indented(text)
    return lines


def _indented(text: str) -> list[str]:
    return textwrap.wrap(printable(text), WIDTH, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False)


_LEGEND = (
    "In brackets 95 % intervals; n observations that are independent of each other; seed {seed}. Exact numbers have no"
    " interval. (kernel) and (table) tell what knows a number; others are from matches on the rules. Where all n were"
    " equal, at most 3/n of others would differ, at 95 % confidence."
)


_COMPARED = (
    "An asterisk marks a difference whose 95 % interval does not contain zero; differences of shares are in percentage"
    " points."
)


def _line(row: Row) -> str:
    from arena.lab.measures.measure import interval_text, number_text

    label = textwrap.wrap(printable(f"{row.name}, {row.at}" if row.at else row.name), _LABEL)
    numbers = f"{number_text(row):>9}  {interval_text(row)}"
    first, *others = label
    return "\n".join([f"   {first:<{_LABEL}}{numbers}".rstrip(), *(f"     {further}" for further in others)])


def _comparison_text(comparison: Comparison) -> str:
    from arena.lab.measures.answers import answers_of_comparison
    from arena.lab.measures.measure import estimate_text, number_text

    first_value, second_value = (str(value) for value in comparison.values)
    lines = [f"{'':<{_NARROW + 3}}{first_value:>9.9} {second_value:>9.9}  larger by"]
    for difference in comparison.differences():
        if difference.row.at.startswith("ply "):
            continue
        row, other_row = difference.row, difference.other
        label = textwrap.wrap(printable(f"{row.name}, {row.at}" if row.at else row.name), _NARROW)
        change = "" if difference.change is None else estimate_text(difference.change, row.unit)
        numbers = f"{number_text(row):>9} {number_text(other_row):>9}  {change}"
        lines.append(f" {'*' if difference.is_clear else ' '} {label[0]:<{_NARROW}}{numbers}".rstrip())
        lines += [f"     {further}" for further in label[1:]]
    lines += ["", *textwrap.wrap(_COMPARED, WIDTH)]
    return "\n".join([*lines, *_answer_lines(answers_of_comparison(comparison))])
