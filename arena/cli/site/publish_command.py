"""A tournament as files: a folder of pages, one HTML file, or plots; and the check of records and of folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.analysis.text.tables import printable
from arena.base.bot_text import EVERYBODY, OPERATOR
from arena.base.errors import UsageError, failing_as
from arena.base.names import as_file_name
from arena.base.text import any_of, counted, short_size_text
from arena.cli.site.people_command import opened_people
from arena.cli.terminal.common import (
    load_standings,
    named_or_latest,
    open_home,
    print_done,
    print_json,
    show_line,
    write_file,
)
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import (
    A_PATH,
    RenamedOption,
    WholeNumber,
    game_option,
    json_option,
    output_option,
    with_logs_option,
)
from arena.cli.terminal.streams import FAILED, OK
from arena.cli.tournaments.transfer import external_game_option
from arena.site.publish.signature import public_key, signing_key
from arena.store.home import has_people

if TYPE_CHECKING:
    from arena.site.frame.model import Frozen


COUNTS_A_STEP = 50


@click.command("publish")
@click.argument("tournaments", nargs=-1, metavar="[TOURNAMENT]...")
@click.argument("out", type=A_PATH)
@click.option(
    "--max-matches",
    type=WholeNumber(0, 10_000_000),
    help="Matches to replay, at most, of each tournament [default: all].",
)
@click.option("--no-matches", is_flag=True, help="No page for any match.")
@click.option("--sign", "is_signed", is_flag=True, help="Sign the folder with the key of this arena.")
@with_logs_option
@json_option
def publish_command(
    tournaments: tuple[str, ...],
    out: Path,
    max_matches: int | None,
    no_matches: bool,
    is_signed: bool,
    with_logs: bool,
    as_json: bool,
) -> None:
    """Write TOURNAMENTs (by default all) as a folder OUT, for any web server or a USB stick.

    The pages of arena serve with their tables as JSON and CSV, the records, and a manifest of digests. Nothing in it
    leads out of it, and you can open it from the disk: OUT/index.html. arena tournament verify OUT checks it. If OUT
    was published before, the command replaces it. It leaves out what bots wrote, which only their authors may see:
    their stderr, their notes, and the details of their faults; records have a digest of it.
    """
    from arena.site.publish.publishing import publish

    if no_matches and max_matches:
        raise UsageError("--no-matches and --max-matches: expected one of them")
    with open_home(must_exist=True) as arena_home:
        key = signing_key(arena_home.directory) if is_signed else None
        made = publish(
            arena_home,
            tournaments,
            out,
            max_matches=0 if no_matches else max_matches,
            audience=OPERATOR if with_logs else EVERYBODY,
            key=key,
            frozen=_frozen_results(),
            progress=partial(_show_count, "page"),
        )
    show_line()
    values = {"folder": str(out), "tournaments": made.tournaments, "files": made.files, "bytes": made.size_bytes}
    summary = (
        f"{out}: {counted(len(made.tournaments), 'tournament')}, {counted(made.pages, 'page')},"
        f" {short_size_text(made.size_bytes)}; open {out / 'index.html'}"
    )
    print_done(as_json, values, summary, *([f"signed with the key {key.public.text}"] if key is not None else []))


def _frozen_results() -> Callable[[str], Frozen | None]:
    if not has_people(global_option("home")):
        return lambda _: None
    from arena.community.contests.visibility import frozen_results

    with closing(opened_people()) as people:
        contests, now = people.contests.all(), people.contests.now()
    return lambda tournament: frozen_results(contests, tournament, now)


def _show_count(noun: str, count: int) -> None:
    if count % COUNTS_A_STEP == 0:
        show_line(counted(count, noun))


@click.command("report")
@click.argument("tournament", required=False)
@output_option("TOURNAMENT.html")
@click.option(
    "--max-matches",
    cls=RenamedOption,
    earlier="--matches",
    type=WholeNumber(0, 10_000_000),
    help="Matches to replay, at most [default: what fits into about 2 MB].",
)
@with_logs_option
@json_option
def report_command(
    tournament: str | None, output: Path | None, max_matches: int | None, with_logs: bool, as_json: bool
) -> None:
    """Write TOURNAMENT (by default the latest) as one self-contained HTML file.

    Standings, crosstable, a section for each bot, matches to step through, and all statistics. You can open it from the
    disk, mail it, or put it on any web server: it loads nothing. It leaves out what bots wrote, which only their
    authors may see: their stderr, their notes, and the details of their faults.
    """
    from arena.site.publish.one_file import report_file

    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        page = report_file(arena_home, stored, max_matches, OPERATOR if with_logs else EVERYBODY)
    path = output or Path(f"{as_file_name(stored.name)}.html")
    write_file(path, page)
    size_bytes = len(page.encode())
    print_done(as_json, {"file": str(path), "bytes": size_bytes}, f"{path}: {size_bytes / 1e6:.1f} MB")


KINDS = ("ratings", "course", "crosstable", "seats", "times", "notes")


@click.command("plot")
@click.argument("tournament", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only this one [default: all].")
@output_option("TOURNAMENT-plots/KIND.svg")
@game_option
@json_option
def plot_command(
    tournament: str | None, kind: str | None, output: Path | None, game: str | None, as_json: bool
) -> None:
    """Draw TOURNAMENT (by default the latest): its ratings, ratings over matches, crosstable, seats, times,
    and the means by ply of the numbers that bots report in notes, if there are any.

    `--output` is a .png or .svg file with `--kind`, and otherwise a directory. Needs the extra `plots` (matplotlib).
    """
    from arena.analysis.text.plots import rendered
    from arena.analysis.text.tournament_plots import tournament_plot

    if kind is not None and output is not None and output.suffix not in (".png", ".svg"):
        raise UsageError(f"--output {str(output)!r}: expected names that end in .png or .svg")
    if kind is None and output is not None and output.suffix in (".png", ".svg") and not output.is_dir():
        raise UsageError(f"--output {str(output)!r}: one file takes one plot: name it by --kind {any_of(KINDS)}")
    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament, game)
        table = load_standings(arena_home, stored.name, game)
        written = []
        for chosen in KINDS if kind is None else (kind,):
            path = _path(stored.name, chosen, output, is_all=kind is None)
            figure = tournament_plot(arena_home, stored, table, chosen, game)
            if figure is None and kind is None:
                continue
            if figure is None:
                raise UsageError("--kind notes: no bot has reported a number; notes that are maps count")
            data = rendered(figure, path.suffix[1:])
            with failing_as(UsageError, f"--output {str(path)!r}: can't be written"):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, data)
            written.append({"kind": chosen, "file": str(path)})
            if not as_json:
                click.echo(str(path))
    if as_json:
        print_json(written)


def _path(name: str, kind: str, output: Path | None, is_all: bool) -> Path:
    if output is not None and not is_all:
        return output
    return (output or Path(f"{as_file_name(name)}-plots")) / f"{kind}.svg"


UNSETTLED = "all records hold; the ratings are not compared, because matches were recorded meanwhile"
MANIFEST = "manifest.json"


@click.command("verify")
@click.argument("tournament", required=False, metavar="[TOURNAMENT or OUT]")
@external_game_option
@click.option("--key", metavar="KEY", help="The key that must have signed OUT: ed25519:…, or a PEM file.")
@json_option
def verify_command(tournament: str | None, external_games: tuple[str, ...], key: str | None, as_json: bool) -> int:
    """Replay every record of TOURNAMENT, or of all, through the rules, and recompute scores, ranks and ratings.

    In a corrected tournament, the log of corrections has to explain every record and every match that does not count.
    OUT is a folder that arena publish has made: the command checks its digests, its records and every page, from the
    folder alone, and names who has signed it.
    """
    if tournament is not None and os.path.isfile(os.path.join(tournament, MANIFEST)):  # noqa: PTH113, PTH118 (odd names)
        return _verify_folder(Path(tournament), external_games, key, as_json)
    if key is not None:
        raise UsageError("--key: expected a published folder, for nothing else is signed")
    if external_games:
        raise UsageError(
            "--external-game: the records of this arena's own home need none; it is for a published folder"
        )
    return _verify_home(tournament, as_json)


def _verify_home(tournament: str | None, as_json: bool) -> int:
    from arena.analysis.measures.verification import is_settled, verify

    with open_home(must_exist=True) as arena_home:
        store = arena_home.store
        chosen = store.tournaments() if tournament is None else [store.tournament(tournament)]
        if not chosen and not as_json:
            click.echo("There is no tournament yet.")
        rows = []
        for stored in chosen:
            checked, problems = verify(arena_home, stored)
            for problem in problems:
                click.echo(printable(f"{stored.name}: {problem}"), err=True)
            rows.append(
                {"tournament": stored.name, "checked": checked, "matches": stored.scheduled, "problems": problems}
            )
            if not as_json:
                held = "the ratings and the corrections" if stored.corrections else "the ratings"
                verdict = f"all records hold, and so do {held}" if is_settled(arena_home, stored) else UNSETTLED
                verdict = counted(len(problems), "problem") if problems else verdict
                matches = counted(stored.scheduled, "match")
                click.echo(f"{printable(stored.name)}: {checked:,} of {matches} checked: {verdict}")
    if as_json:
        print_json(rows)
    return FAILED if any(row["problems"] for row in rows) else OK


def _verify_folder(folder: Path, external_games: tuple[str, ...], key: str | None, as_json: bool) -> int:
    from arena.site.publish.verification import verify_folder

    expected_key = public_key(key) if key is not None else None
    verified = verify_folder(folder, external_games=external_games, key=expected_key, progress=_show_count)
    show_line()
    for problem in verified.problems:
        click.echo(printable(f"{folder}: {problem}"), err=True)
    counts = {"files": verified.files, "matches": verified.matches, "pages": verified.pages}
    if as_json:
        print_json({"folder": str(folder), **counts, "signed_by": verified.signed_by, "problems": verified.problems})
    else:
        parts = map(counted, counts.values(), ("file", "match", "page"))
        verdict = counted(len(verified.problems), "problem") if verified.problems else "all of them hold"
        click.echo(printable(f"{folder}: {', '.join(parts)} checked: {verdict}"))
        if verified.signed_by is not None and not verified.problems:
            click.echo(
                f"signed with the key {verified.signed_by}{'' if key else ', of whom only you can say whose it is'}"
            )
    return FAILED if verified.problems else OK
