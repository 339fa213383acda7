"""``arena check``: whether bots keep the protocol, and whether the rules of a game are right, step by step."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from arena.analysis.text.tables import Column, printable
from arena.analysis.text.transcript import exchange_lines
from arena.base.errors import BotDefinitionError, UsageError
from arena.base.records import Bot
from arena.base.text import all_of, counted
from arena.cli.terminal.common import (
    alarming,
    count_passed,
    find_bots,
    open_home,
    print_table,
    print_wrapped,
    show_line,
    show_stderr,
)
from arena.cli.terminal.conditions import conditions, first_openings, like_option
from arena.cli.terminal.options import (
    games_option,
    isolation_option,
    json_option,
    options_option,
    seconds_option,
    within_option,
)
from arena.cli.terminal.streams import FAILED, OK
from arena.games import find_game
from arena.match.check.check import Step, check_bot
from arena.match.check.rules import check_rules
from arena.match.check.rules_process import RulesCheck, RulesStep
from arena.match.players.bot_output import own_traceback
from arena.match.players.entrants import GIT
from arena.match.players.manifest import as_submitted
from arena.match.players.program_file import uses_botkit
from arena.match.uploads.unpacking import is_archive, opened_bot
from arena.sandbox.isolation.interpreters import is_submitted
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament.collected import SUBMITTED, collected, is_collection
from arena.tournament.missing_manifests import write_manifests

if TYPE_CHECKING:
    from arena.base.definition import Definition


INDENT = "     "
STDERR_LINES = 12
"""The most that is shown of the beginning and of the end of what the rules write to stderr."""


def check_rules_command(
    game: str, options: Sequence[str], isolation: str, within_seconds: float | None, as_json: bool
) -> int:
    """Print the steps of a check of rules; return the exit code."""
    started = time.monotonic()

    def show_progress(positions: int) -> None:
        if not as_json:
            show_line(f"{game}: {counted(positions, 'position')} tried, {time.monotonic() - started:.0f} s")

    with_options = f" with {', '.join(options)}" if options else ""
    steps: list[RulesStep] = []
    printed: list[str] = []
    check = RulesCheck(
        game=game,
        given=tuple(options),
        within_seconds=within_seconds,
        tell=printed.append,
        on_progress=show_progress,
    )
    try:
        for number, step in enumerate(check_rules(check, isolation), 1):
            if not as_json:
                show_line()
            if not steps and not as_json:
                click.echo(printable(f"rules of {game}{with_options}"))
            steps.append(step)
            if as_json:
                click.echo(json.dumps({"game": game, "number": number, **asdict(step)}))
            else:
                _show_rules_step(number, step)
    finally:
        if not as_json:
            show_line()
        lines = "".join(printed).splitlines()
        if len(lines) > 2 * STDERR_LINES:
            lines[STDERR_LINES:-STDERR_LINES] = ["[...]"]
        show_stderr(f"the rules of {game}", "\n".join(lines))
    passed = sum(step.is_passed for step in steps)
    if not as_json:
        click.echo(count_passed(passed, len(steps), "step"))
        if passed < len(steps):
            print_wrapped(
                "", 0, f"The mistakes are in the game {printable(game)}. More may show once these are corrected."
            )
    return OK if passed == len(steps) else FAILED


def _show_rules_step(number: int, step: RulesStep) -> None:
    _print_step(number, step.is_passed, f"{step.name}{f': {step.detail}' if step.detail else ''}")
    if step.is_passed:
        return
    if step.line:
        print_wrapped(f"{INDENT}after:     ", len(INDENT) + 11, printable(step.line_text))
        print_wrapped(f"{INDENT}actions:   ", len(INDENT) + 11, printable(json.dumps(list(step.line))))
    if step.options:
        shown = ", ".join(f"{name} = {value!r}" for name, value in step.options.items())
        print_wrapped(f"{INDENT}options:   ", len(INDENT) + 11, printable(shown))


def _print_step(number: int, is_passed: bool, text: str) -> None:
    mark = "ok    " if is_passed else alarming("FAILED")
    print_wrapped(f"{number:3d}  {mark}  ", 13, printable(text))


class _Result(NamedTuple):
    bot: str
    label: str | None
    first_failure: str | None


@click.command("check")
@click.argument("bots", metavar="[BOT]...", nargs=-1)
@click.option("--rules", metavar="GAME", help="Check the rules of this game instead, such as hex:Hex.")
@options_option
@games_option("Try this game instead of all that the bot claims")
@like_option
@seconds_option
@isolation_option
@click.option(
    "--in-place",
    "in_place",
    is_flag=True,
    help="The bots are your own and play from where they are: they may start other programs of yours, such as pyenv's.",
)
@within_option("With --rules: about how long to check [default: as long as it takes, at most a minute].")
@click.option(
    "--write-manifest",
    "writes_manifest",
    is_flag=True,
    help="First write bot.toml into each folder without one where it is clear which file is the program.",
)
@click.option("--bytes", "shows_bytes", is_flag=True, help="Show every byte, also for bots with botkit.")
@json_option
def check_command(
    bots: tuple[str, ...],
    rules: str | None,
    options: tuple[str, ...],
    games: tuple[str, ...],
    like: str | None,
    isolation: str,
    in_place: bool,
    within_seconds: float | None,
    writes_manifest: bool,
    shows_bytes: bool,
    as_json: bool,
    **_conditions: Any,
) -> int:
    """Test each BOT as a tournament would: every claimed game in every seat, odd sizes, three players, every option at
    its bounds, match after match, on a busy machine. BOT is a path, an archive such as bot.zip, an example such as
    arena:greedy, a submitted bot or git:PATH@REF; in a folder or an archive of submissions, a download from Moodle, or
    submitted:PATTERN, it tests each bot. With --like, it tests only the games and options of that tournament, under its
    conditions, and from its first opening. With --rules, it tests the rules of a game, for their author, and shows each
    mistake with the shortest line of play that leads to it.

    The exit code is 1 if a step fails. A failed step has the bot's stderr and a hint how to fix it; for a bot without
    botkit, also the last question and the bytes that came back, as text and in hexadecimal. The command shows steps
    that fail in the same way as one; for several bots, only the steps that fail, and at the end a table of all bots.
    With --json, each step is a line.
    """
    if rules is not None:
        flags: dict[str, object] = {"--game": games, "--bytes": shows_bytes, "--in-place": in_place, "--like": like}
        flags["--write-manifest"] = writes_manifest
        refused = [f"the bot {bot!r}" for bot in bots] + [name for name, given in flags.items() if given]
        if refused:
            raise UsageError(f"--rules checks the rules of one game, without {refused[0]}")
        choose_isolation(isolation)
        return check_rules_command(rules, options, isolation, within_seconds, as_json)
    if not bots:
        raise UsageError("arena check: expected a bot, or the rules of a game: --rules module:Class")
    if "" in bots:
        raise UsageError("bot '': expected a path, such as . for this directory, or the name of a bot")
    if options:
        raise UsageError(f"--option {options[0]}: expected only together with --rules")
    if within_seconds is not None:
        raise UsageError(f"--within {within_seconds:g}s: expected only together with --rules")
    for game in games:
        find_game(game)
    chosen = _chosen(like, games)
    games_and_openings = chosen.games, first_openings(chosen), chosen.ply_limit
    level = choose_isolation(chosen.isolation)
    if writes_manifest:
        _write_manifests(bots, as_json)

    def check(text: str, opened: Callable[[], AbstractContextManager[Bot]]) -> _Result:
        with opened() as bot:
            if not bot.command:
                raise UsageError(f"bot {text!r}: this is no program; expected a path or a submitted bot")
            if in_place and is_submitted(bot):
                raise UsageError(f"--in-place: bot {text!r} was submitted; expected one that plays from where it lies")
            if not in_place and not bot.submitted:
                bot = as_submitted(bot)
            steps = check_bot(bot, level, chosen.time_control, games, chosen.limits, *games_and_openings)
            if as_json:
                failed = [step for number, step in enumerate(steps, 1) if not _print_json(text, number, step)]
            else:
                of_several = "" if is_single else f"{printable(text)}: "
                click.echo(f"{of_several}{printable(bot.label)}, isolation {level.label}")
                display = _Display(bot, shows_bytes or not uses_botkit(bot), shows_passed=is_single)
                failed = display.show_all(steps)
        return _Result(text, bot.label, f"{failed[0].name}: {failed[0].detail}" if failed else None)

    with ExitStack() as stack:
        named = [pair for text in bots for pair in _named_by(text, stack)]
        is_single = len(named) == 1
        if is_single:
            return OK if check(*named[0]).first_failure is None else FAILED
        results = [_launched_or_not(text, partial(check, text, opened), as_json) for text, opened in named]
    if not as_json:
        _print_summary(results)
    return OK if all(result.first_failure is None for result in results) else FAILED


def _write_manifests(bots: Sequence[str], as_json: bool) -> None:
    for text in bots:
        try:
            for path in write_manifests(Path(text)):
                click.echo(f"wrote {printable(str(path))}", err=as_json)
        except BotDefinitionError as error:
            if len(bots) == 1:
                raise
            click.echo(printable(f"arena: {error}"), err=True)  # the check of all says that this one has none


def _named_by(text: str, stack: ExitStack) -> Iterator[tuple[str, Callable[[], AbstractContextManager[Bot]]]]:
    """Yield the bots that a text names, each with what it is called, and how it is opened."""
    if text.startswith((GIT, SUBMITTED)) or is_archive(text) or is_collection(Path(text)):
        home = stack.enter_context(open_home())
        entries = stack.enter_context(collected(text, Path(), home.bots))
        if [entry.shown for entry in entries] != [text] or text.startswith(GIT):
            yield from ((entry.shown, entry.opened_bot) for entry in entries)
            return
    yield text, partial(_opened_by_name, text)


@contextmanager
def _opened_by_name(text: str) -> Iterator[Bot]:
    with opened_bot(text) as path:
        yield find_bots([str(path)])[0]


def _chosen(like: str | None, games: Sequence[str]) -> Definition:
    """Return the conditions of a check; with ``--like``, also the games with their options."""
    if like is None:
        return replace(conditions(None, "differences", ()), games=())
    chosen = conditions(like, None, ())
    games_to_try = tuple(choice for choice in chosen.games if choice.game in games or not games)
    if not games_to_try:
        have = all_of(list(dict.fromkeys(choice.game for choice in chosen.games)))
        raise UsageError(f"--game {games[0]}: expected a game of the tournament {like!r}, which has {have}")
    return replace(chosen, games=games_to_try)


def _launched_or_not(text: str, check: Callable[[], _Result], as_json: bool) -> _Result:
    try:
        return check()
    except UsageError as error:
        if as_json:
            _print_json(text, 1, Step("can be launched", False, str(error)))
        else:
            print_wrapped("", 0, printable(str(error)))
        return _Result(text, None, str(error).removeprefix(f"bot {str(Path(text).resolve())!r}: "))


def _print_summary(results: Sequence[_Result]) -> None:
    columns = (
        Column("bot", "bot", is_number=False),
        Column("label", "name", is_number=False),
        Column("result", "result", is_number=False),
        Column("first_failure", "first failure", is_number=False, wraps=True),
    )
    rows = [{**result._asdict(), "result": "FAILED" if result.first_failure else "passed"} for result in results]
    click.echo()
    print_table(columns, rows, "text", count_passed(sum(row["result"] == "passed" for row in rows), len(rows), "bot"))


def _print_json(bot: str, number: int, step: Step) -> bool:
    values = asdict(replace(step, before=()))
    del values["before"]
    own = {"sent": step.sent.hex(), "received": step.received.hex(), "number": number, "bot": bot}
    click.echo(json.dumps(values | own))
    return step.is_passed


class _Display:
    def __init__(self, bot: Bot, shows_bytes: bool, shows_passed: bool) -> None:
        self._bot = bot
        self._shows_bytes = shows_bytes
        self._shows_passed = shows_passed
        self._first: dict[str, int] = {}  # the number of the step that was shown in full, by its hint
        self._repeated: list[tuple[int, Step]] = []

    def show_all(self, steps: Iterable[Step]) -> list[Step]:
        failed = []
        number = 0
        for number, step in enumerate(steps, 1):
            self._show(number, step)
            if not step.is_passed:
                failed.append(step)
        self._show_repeated()
        click.echo(count_passed(number - len(failed), number, "step"))
        return failed

    def _show(self, number: int, step: Step) -> None:
        if not step.is_passed and step.hint in self._first:
            if self._repeated and self._repeated[-1][1].hint != step.hint:
                self._show_repeated()
            self._repeated.append((number, step))
            return
        self._show_repeated()
        if step.is_passed and not self._shows_passed:
            return
        _print_step(number, step.is_passed, f"{step.name}: {step.detail}")
        if not step.is_passed:
            self._first[step.hint] = number
            self._explain(step)

    def _show_repeated(self) -> None:
        if not self._repeated:
            return
        numbers = [number for number, _ in self._repeated]
        names = "; ".join(printable(step.name) for _, step in self._repeated)
        first = self._first[self._repeated[0][1].hint]
        steps = f"{numbers[0]:3d}" if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}".rjust(3)
        print_wrapped(f"{steps}  {alarming('FAILED')}  ", len(steps) + 10, f"like step {first}, also in: {names}")
        self._repeated = []

    def _explain(self, step: Step) -> None:
        if self._shows_bytes and step.sent:
            for line in exchange_lines(step.before, step.sent, step.received):
                print_wrapped(INDENT, len(INDENT) + (0 if line.startswith(" ") else 11), line)
        for line in own_traceback(step.stderr, self._bot)[-STDERR_LINES:]:
            print_wrapped(f"{INDENT}stderr:    ", len(INDENT) + 11, printable(line))
        print_wrapped(f"{INDENT}to fix it: ", len(INDENT) + 11, printable(step.hint))
