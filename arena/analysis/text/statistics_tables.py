"""The statistics of a tournament as columns and rows, and the sentences under them."""

from __future__ import annotations

from collections.abc import Sequence

from arena.analysis.measures.game_statistics import BotTimes, CrossCheck
from arena.analysis.measures.standings import Standings
from arena.analysis.measures.values import GameStatistics, Share
from arena.analysis.text.standings_columns import percent_text
from arena.analysis.text.tables import Column, Row, row_of
from arena.analysis.text.verdict import cycle_text, untested_text
from arena.base.enums import FaultKind

STATS_TITLES = {
    "games": ("Games", "Draws and the score of each seat, from two encounters on with 95 % intervals."),
    "seats": ("Seats", "The score of each bot in each seat, in percent."),
    "groups": ("Groups", "Neither 95 % certainty nor a claim of [until] separates the bots of a group from its first."),
    "better": ("Who is better", "LOS: the probability that the bot of the row is better than the bot of the column."),
    "nash": ("Nash averaging", "The weight in the equilibrium, and the payoff against it."),
    "times": ("Time used", "For an action, in milliseconds; and seconds of CPU time."),
    "faults": ("Faults", "Forfeits by kind."),
}
"""The title of each table, and a sentence about it."""

BALANCE_COLUMNS = [
    Column("game", "game", is_number=False, drop_order=2),
    Column("kind", "balance", is_number=False, wraps=True),
    Column("least", "least", drop_order=4),
    Column("most", "most", drop_order=4),
    Column("imbalance", "off by", 2, drop_order=1),
    Column("worst", "worst", is_number=False, drop_order=3, wraps=True),
]
"""The columns of the table of schedule balance."""

MAX_LOS_BOTS = 2000
"""With more bots there is no table of all pairs."""

AGREES = 0.8
"""The least Kendall's tau at which two orders agree."""

MIN_INTERVAL_ENCOUNTERS = 2
"""A single encounter can't tell how much encounters vary."""

MAX_CYCLES = 5

_Table = tuple[list[Column], list[Row]]


def stats_tables(
    table: Standings,
    games: Sequence[GameStatistics],
    check: CrossCheck,
    times: Sequence[BotTimes],
    formatted: bool = True,
) -> dict[str, _Table]:
    """Return all tables by name, in the order they are shown; intervals as text, otherwise as JSON types."""
    return {
        "games": _games(games, formatted),
        "seats": _seats(table),
        "groups": _groups(table, formatted),
        "better": _los(table, formatted),
        "nash": _nash(table, check),
        "times": _times(table, times),
        "faults": _faults(table),
    }


def _share(share: Share, game: GameStatistics, formatted: bool) -> object:
    if formatted and game.encounters < MIN_INTERVAL_ENCOUNTERS:
        return f"{100 * share.value:.1f}"
    if formatted:
        return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return {"value": share.value, "low": share.low, "high": share.high}


def _games(games: Sequence[GameStatistics], formatted: bool) -> _Table:
    seats = max((len(game.seats) for game in games), default=0)
    columns = [
        Column("game", "game", is_number=False),
        Column("matches", "matches", drop_order=2),
        Column("encounters", "encounters", drop_order=3),
        Column("repeats", "duplicates", drop_order=5),
        Column("decisive_percent", "decisive %", 1, drop_order=4),
        Column("draws", "draws %", drop_order=1),
        *(Column(f"seat_{seat}", f"seat {seat} %", is_parted=True) for seat in range(seats)),
    ]
    rows: list[Row] = []
    for game in games:
        shares = {"decisive_percent": 100 * game.decisive, "draws": _share(game.draws, game, formatted)}
        row = row_of(columns[: len(columns) - seats], game, **shares)
        for seat in range(seats):
            row[f"seat_{seat}"] = _share(game.seats[seat], game, formatted) if seat < len(game.seats) else None
        rows.append(row)
    return columns, rows


def _seats(table: Standings) -> _Table:
    columns = [Column("bot", "bot", is_number=False)]
    columns += [Column(f"seat_{seat}_percent", f"seat {seat}", 1, is_parted=True) for seat in range(table.players)]
    rows: list[Row] = []
    for line in table.lines:
        shares = {seat: line.seat_share(seat) for seat in range(table.players)}
        shown = {f"seat_{seat}_percent": None if share is None else 100 * share for seat, share in shares.items()}
        rows.append({"bot": line.bot, **shown})
    return columns, rows


def _groups(table: Standings, formatted: bool) -> _Table:
    members: dict[str, list[str]] = {}
    for line in table.lines:
        members.setdefault(line.group, []).append(line.bot)
    columns = [Column("group", "group", is_number=False), Column("bots", "bots", is_number=False, wraps=True)]
    rows: list[Row] = [
        {"group": group, "bots": ", ".join(bots) if formatted else bots} for group, bots in members.items()
    ]
    return columns, rows


def _los(table: Standings, formatted: bool) -> _Table:
    if len(table.lines) > MAX_LOS_BOTS:
        return [], []
    index = {bot: number for number, bot in enumerate(table.fitted.names)}
    matrix = table.fitted.los()
    columns = [Column("rank", "#"), Column("bot", "bot", is_number=False)]
    columns += [Column(f"than_{number}", str(number), is_parted=True) for number in range(1, len(table.lines) + 1)]
    rows: list[Row] = []
    for number, line in enumerate(table.lines, 1):
        row: Row = {"rank": number, "bot": line.bot}
        for other, rival in enumerate(table.lines, 1):
            is_known = rival != line and line.label in index and rival.label in index
            los = float(matrix[index[line.label], index[rival.label]]) if is_known else None
            row[f"than_{other}"] = percent_text(los) if formatted else los
        rows.append(row)
    return columns, rows


def _nash(table: Standings, check: CrossCheck) -> _Table:
    columns = [
        Column("bot", "bot", is_number=False),
        Column("weight_percent", "weight %", 1),
        Column("payoff_percent", "payoff %", 1, drop_order=1),
    ]
    names = table.shown_names
    order = sorted(check.nash, key=lambda bot: (-round(check.nash[bot][1], 6), -check.nash[bot][0], bot))
    return columns, [
        {
            "bot": names.get(bot, bot),
            "weight_percent": 100 * check.nash[bot][0],
            "payoff_percent": 100 * check.nash[bot][1],
        }
        for bot in order
    ]


def _times(table: Standings, times: Sequence[BotTimes]) -> _Table:
    columns = [
        Column("bot", "bot", is_number=False),
        Column("actions", "actions", drop_order=4),
        Column("mean_ms", "mean ms", 3, drop_order=1),
        Column("p99_ms", "p99 ms", 3, drop_order=2),
        Column("longest_ms", "longest ms", 3, drop_order=2),
        Column("cpu_seconds", "CPU s", 2, drop_order=3),
        Column("off_turn_cpu_seconds", "off-turn CPU s", 2, drop_order=5),
    ]
    names = table.shown_names
    return columns, [
        row_of(columns, line, bot=names.get(line.bot, line.bot)) for line in sorted(times, key=lambda line: line.bot)
    ]


def _faults(table: Standings) -> _Table:
    columns = [Column("bot", "bot", is_number=False), Column("matches", "matches", drop_order=1)]
    columns += [Column(kind, kind, is_parted=True) for kind in FaultKind]
    return columns, [
        {"bot": line.bot, "matches": line.matches, **{kind: line.faults.get(kind, 0) for kind in FaultKind}}
        for line in table.lines
        if line.faults
    ]


def stats_sentences(table: Standings, check: CrossCheck) -> list[str]:
    """Return the results of the tests, in sentences."""
    sentences = [_about_overdispersion(table)]
    sentences += [
        f"A cycle: {cycle_text(cycle, table.shown_names)}." for cycle in table.consistency.cycles[:MAX_CYCLES]
    ]
    if len(check.bradley_terry) > 1:
        verdict = "as it should" if check.agreement >= AGREES else "which is little: see the crosstable"
        sentences.append(
            "Bradley-Terry, fitted independently, agrees with the order by mu with Kendall's tau"
            f" {check.agreement:.2f}, {verdict}."
        )
    return sentences


def _about_overdispersion(table: Standings) -> str:
    tested = table.consistency
    if tested.phi is None:
        return untested_text(table)
    verdict = (
        "a single rating per bot does not fit; see the crosstable or Nash averaging"
        if tested.is_flagged
        else "a single rating per bot fits"
    )
    return (
        f"Overdispersion φ = {tested.phi:.2f}: by chance alone it would be as large with probability"
        f" {percent_text(tested.p_value)}; {verdict}."
    )
