"""``arena grades``: the grades of a class, from a tournament, a roster and a scheme."""

from __future__ import annotations

import csv
import unicodedata
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from arena.analysis.text.tables import Column, printable, render_table, row_of
from arena.base.checked_files import check_model, read_file, read_toml
from arena.base.errors import UsageError, suggestion
from arena.base.grades import Grade, GradeState, Scheme, Student, TableLine, grades_of
from arena.base.names import is_printable_text
from arena.base.text import counted, shortened_text
from arena.cli.terminal.common import load_standings, named_or_latest, open_home, print_table, write_file
from arena.cli.terminal.options import A_PATH, json_option, output_option, wide_option
from arena.store.results.values import StoredTournament, disqualified

if TYPE_CHECKING:
    from arena.analysis.measures.standings import Standings
    from arena.base.until import Decided

MAX_ROSTER_BYTES = 2**20
MAX_STUDENTS = 10_000
MAX_LINE_BYTES = 4000
MAX_FAULTS = 20
"""The most sentences about a roster that are shown."""
HEADERS = frozenset({"student", "name", "person"})
OTHERS = frozenset({"email", "e-mail", "mail", "address", "role"})
"""Headings of a second column that are not that of bots, as lists from which accounts are made have them."""
COLUMNS = (
    Column("student", "student", is_number=False),
    Column("grade", "grade"),
    Column("state", "state", is_number=False),
    Column("group", "group"),
    Column("bot", "bot", is_number=False, drop_order=2),
    Column("rank", "rank", drop_order=3),
    Column("matches", "matches", drop_order=4),
    Column("score_percent", "score %", 1, drop_order=3),
    Column("forfeits", "forfeits", drop_order=1),
    Column("points", "points", drop_order=5),
    Column("reason", "reason", is_number=False, drop_order=1, wraps=True),
)


@click.command("grades")
@click.argument("tournament", required=False)
@click.option("--scheme", type=A_PATH, metavar="FILE", help="How groups become grades (TOML).")
@click.option("--roster", type=A_PATH, metavar="FILE", help="Who gets a grade (CSV).")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, and nothing else.")
@json_option
@output_option("the terminal")
@wide_option
def grades_command(
    tournament: str | None, scheme: Path | None, roster: Path | None, as_csv: bool, as_json: bool, output: Path | None
) -> None:
    """Grade everybody who takes part in TOURNAMENT (by default the latest), or everybody on a roster.

    Bots that the results do not separate (a group of arena stats) share a grade. Students whose bot was rejected, or
    who submitted nothing, have a line, too. By default the first group gets 10 points and the last 0, at equal
    distances; the keys of a scheme are best, worst, yardstick, without_faults, rejected, absent, disqualified, decimals
    and names.

    A roster has a student on each line, and behind a comma or a semicolon the bot, if it has another name. Below
    headings such as name,email,bot further columns are ignored. --output writes CSV, or JSON into a file that ends in
    .json.
    """
    chosen = Scheme() if scheme is None else read_scheme(scheme)
    students = None if roster is None else read_roster(roster)
    if as_csv and as_json:
        raise UsageError("--csv and --json: expected one of them")
    with open_home(must_exist=True) as arena_home:
        stored = named_or_latest(arena_home, tournament)
        table = load_standings(arena_home, stored.name)
    grades = grade_tournament(stored, table, students, chosen)
    rows = [row_of(COLUMNS, grade) for grade in grades]
    is_json = as_json or (output is not None and not as_csv and output.suffix == ".json")
    if output is not None:
        text = render_table(COLUMNS, rows, "json" if is_json else "csv")
        write_file(output, f"{text.rstrip()}\n")
        click.echo(f"{output}: {counted(len(rows), 'student')}")
    else:
        print_table(COLUMNS, rows, "json" if is_json else "csv" if as_csv else "text", _footer(grades, table.decided))
    _warn(stored, students, chosen.yardstick)


def grade_tournament(
    stored: StoredTournament, table: Standings, students: list[Student] | None, scheme: Scheme
) -> list[Grade]:
    """Return the grades of a tournament; without students, everybody who wanted to take part is one."""
    definition = stored.definition
    if scheme.yardstick and not any(scheme.yardstick in (bot.name, bot.label) for bot in definition.entrants):
        expected = suggestion(scheme.yardstick, [bot.name for bot in definition.entrants])
        raise UsageError(f"yardstick = {scheme.yardstick!r}: it is no entrant of {stored.name!r}; {expected}")
    rejected = {bot.name: bot.reason for bot in definition.rejected}
    out = [definition.entrants[number] for number in disqualified(stored.corrections)]
    lines = [
        TableLine(
            name=line.label.rpartition("@")[0],
            label=line.label,
            group=line.group,
            rank=line.rank,
            matches=line.matches,
            score_percent=100 * line.points / line.matches if line.matches else None,
            forfeits=sum(line.faults.values()),
        )
        for line in table.lines
    ]
    if students is None:
        names = dict.fromkeys([bot.name for bot in definition.entrants] + list(rejected))
        students = [Student(name, (name,)) for name in names]
    return grades_of(
        students,
        lines,
        scheme,
        waiting={text for bot in definition.entrants for text in (bot.name, bot.label)},
        disqualified={bot.label for bot in out},
        rejected=rejected,
    )


def read_scheme(path: Path) -> Scheme:
    """Return the scheme in a TOML file; raise UsageError with every fault."""
    from pydantic import AfterValidator, ConfigDict, Field, create_model

    points = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
    others = {
        "yardstick": str,
        "decimals": Annotated[int, Field(ge=0, le=6)],
        "names": Annotated[dict[str, points], AfterValidator(_with_different_points)],
    }
    keys: dict[str, Any] = {key: (others.get(key, points), value) for key, value in asdict(Scheme()).items()}
    model = create_model("SchemeFile", __config__=ConfigDict(extra="forbid", strict=True), **keys)
    return Scheme(**check_model(model, read_toml(path, UsageError), path, UsageError).model_dump())


def _with_different_points(names: dict[str, float]) -> dict[str, float]:
    if not all(name.strip() and is_printable_text(name) for name in names):
        raise ValueError("expected printable names of grades")
    before: dict[float, str] = {}
    for name, points in names.items():
        if points in before:
            raise ValueError(f"{before[points]} and {name} begin at the same points; expected different ones")
        before[points] = name
    return names


def read_roster(path: Path) -> list[Student]:
    """Return the students in a file, in its order; raise UsageError with a sentence for each line that is wrong.

    Below headings there may be more columns, such as addresses, which are ignored.
    """
    students: list[Student] = []
    columns, bot_column = 2, 1
    faults: list[str] = []
    first_lines: dict[str, int] = {}
    for number, line in enumerate(_lines(path), 1):
        if len(line) > MAX_LINE_BYTES:
            faults.append(f"{path}, line {number}: {len(line):,} bytes; expected at most {MAX_LINE_BYTES:,}")
            continue
        try:
            text = unicodedata.normalize("NFC", line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError:
            faults.append(f"{path}, line {number}: not UTF-8; save the file as UTF-8")
            continue
        cells = [cell.strip() for cell in next(csv.reader([text], delimiter=";" if ";" in text else ","), [])]
        cells = cells[: max((place for place, cell in enumerate(cells, 1) if cell), default=0)]
        if number == 1 and cells and cells[0].casefold() in HEADERS:
            columns, bot_column = max(2, len(cells)), _bot_column([cell.casefold() for cell in cells])
            continue
        if not cells:
            continue
        is_too_long = len(cells) > columns
        if not is_too_long:
            cells = [cells[0], (cells[bot_column] if bot_column < len(cells) else "") or cells[0]]
        if is_too_long or not cells[0] or not is_printable_text("".join(cells)):
            shown = shortened_text(repr(text))
            faults.append(f"{path}, line {number}: {shown}: expected a student, or a student and a bot: Ng Ann,annbot")
            continue
        for cell in dict.fromkeys(cells):
            if (before := first_lines.setdefault(cell, number)) != number:
                faults.append(f"{path}, line {number}: {cell!r} stands in line {before}, too; expected it once")
        students.append(Student(cells[0], (cells[-1],)))
    if not students and not faults:
        faults.append(f"{path}: nobody is in it; expected a student on each line")
    if faults:
        more = [f"… and {len(faults) - MAX_FAULTS} more"] if len(faults) > MAX_FAULTS else []
        raise UsageError("; ".join(faults), [*faults[:MAX_FAULTS], *more])
    return students


def _bot_column(headings: list[str]) -> int:
    """Return the column with the names of bots; 0, that of the students, if they are called alike."""
    if "bot" in headings:
        return headings.index("bot")
    return 1 if len(headings) <= 2 and not OTHERS.intersection(headings) else 0


def _lines(path: Path) -> list[bytes]:
    data = read_file(path, UsageError, "a CSV file")
    lines = data.splitlines()
    if len(data) > MAX_ROSTER_BYTES or len(lines) > MAX_STUDENTS:
        raise UsageError(f"{path}: more than {MAX_STUDENTS:,} lines or 1 MiB; expected a roster")
    return lines


def _footer(grades: list[Grade], decided: Decided | None) -> str:
    states = [grade.state for grade in grades]
    parts = [f"{states.count(state)} {state}" for state in GradeState if state in states]
    if decided is None:
        return f"{', '.join(parts)}. A group shares a grade: 95 % certainty does not separate its bots from the first."
    return (
        f"{', '.join(parts)}. Bots of a group share a grade: none is claimed to be better than another, or clearly"
        f" more than {decided.until.indifference:g} points of mu behind its first."
    )


def _warn(stored: StoredTournament, students: list[Student] | None, yardstick: str) -> None:
    """Say on stderr whom only the tournament or only the roster has, and that the tournament is not finished."""
    if stored.finished_at is None:
        of_all = f"{stored.recorded} of {counted(stored.scheduled, 'match')}"
        click.echo(f"arena: {printable(stored.name)} is not finished: {of_all}; these grades may change", err=True)
    if students is None:
        return
    on_roster = {yardstick, *(bot for student in students for bot in student.bots)}
    entered = [(bot.name, bot.label) for bot in stored.definition.entrants]
    entered += [(rejected.name, rejected.name) for rejected in stored.definition.rejected]
    others = dict.fromkeys(name for name, label in entered if not {name, label} & on_roster)
    if not others:
        return
    click.echo(f"arena: on no line of the roster: {', '.join(map(printable, others))}", err=True)
    known = {text for names in entered for text in names}
    missing = [bot for name, bots in students if known.isdisjoint({name, *bots}) for bot in bots]
    if missing:  # one of them may be a mistyped name
        click.echo(f"arena: on the roster, but not in the tournament: {', '.join(map(printable, missing))}", err=True)
