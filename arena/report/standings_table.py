"""Standings, crosstables and lists of matches as columns and rows, and the sentences under them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.analysis.standings import Standing, Standings
from arena.report.tables import Column, Row
from arena.text import counted
from arena.tournament.formats import Placing

MOST_PLACES = 8
"""Columns 1st, 2nd, … in games of more than two players; later places are not shown."""

AUDIT_COLUMNS = [
    Column("game", "game", is_number=False),
    Column("kind", "balance", is_number=False),
    Column("least", "least"),
    Column("most", "most"),
    Column("imbalance", "off by", 2),
    Column("worst", "worst", is_number=False),
]
"""Of the audit of a schedule."""

_ORDINALS = ("1st", "2nd", "3rd")


def standings_columns(table: Standings) -> list[Column]:
    """Return the columns of standings; for two players W D L, for more 1st 2nd …."""
    if table.players == 2:
        places = [Column("wins", "W"), Column("draws", "D"), Column("losses", "L")]
    else:
        shown = min(table.players, MOST_PLACES)
        places = [Column(f"place_{k}", _ordinal(k)) for k in range(1, shown + 1)]
    return [
        Column("rank", "rank"),
        Column("bot", "bot", is_number=False),
        Column("exposure", "exposure", 2),
        Column("mu", "mu", 2),
        Column("sigma", "sigma", 2),
        Column("margin_95", "± 95 %", 2),
        Column("rank_95", "95 % rank"),
        Column("better_than_next", "P > next"),
        Column("same_as_next", "= next", is_number=False),
        Column("matches", "matches"),
        *places,
        Column("points", "points", 1),
        Column("score_percent", "score %", 1),
        Column("first_seat_percent", "seat 0 %", 1),
        Column("faults", "faults", is_number=False),
    ]


def _ordinal(place: int) -> str:
    return _ORDINALS[place - 1] if place <= len(_ORDINALS) else f"{place}th"


def standings_rows(table: Standings, for_people: bool = True) -> list[Row]:
    """Return a row for each bot.

    Args:
        table: the standings.
        for_people: faults and marks as text; otherwise as JSON types.
    """
    return [_standings_row(line, table.players, for_people) for line in table.lines]


def _standings_row(line: Standing, players: int, for_people: bool) -> Row:
    row: Row = {
        "rank": line.rank,
        "bot": line.bot,
        "exposure": line.rating.exposure,
        "mu": line.rating.mu,
        "sigma": line.rating.sigma,
        "margin_95": line.margin,
        "rank_95": list(line.rank_interval) if line.rank_interval else None,
        "better_than_next": line.better_than_next,
        "same_as_next": line.same_as_next,
        "matches": line.matches,
        "points": line.points,
        "score_percent": _percent(line.score_share),
        "first_seat_percent": _percent(line.first_seat_share),
        "faults": dict(sorted(line.faults.items())),
    }
    if players == 2:
        row.update(wins=line.wins, draws=line.draws, losses=line.losses)
    else:
        places = [*line.places, *[0] * players]
        row.update({f"place_{k + 1}": places[k] for k in range(players)})
    if for_people:
        row["same_as_next"] = "=" if line.same_as_next else ""
        row["rank_95"] = interval_text(line.rank_interval)
        row["better_than_next"] = percent_text(line.better_than_next)
        row["faults"] = ", ".join(f"{count} {kind}" for kind, count in row["faults"].items())
    return row


def interval_text(interval: tuple[int, int] | None) -> str | None:
    """Return ``1–3``, or ``2`` where there is no doubt."""
    if interval is None:
        return None
    low, high = interval
    return str(low) if low == high else f"{low}–{high}"


def percent_text(chance: float | None) -> str | None:
    """Return a probability as text that never says more than is known: ``> 99.9 %``, not ``100 %``."""
    if chance is None:
        return None
    if chance > 0.999:
        return "> 99.9 %"
    if chance < 0.001:
        return "< 0.1 %"
    return f"{100 * chance:.1f} %"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def standings_footer(table: Standings) -> str:
    """Return the sentences under standings: what was counted, and what the ratings rest on."""
    if not table.matches:
        return "No match has been recorded yet."
    of = f"{table.matches} of " if table.scheduled is not None else ""
    played = of + counted(table.matches if table.scheduled is None else table.scheduled, "match")
    if table.scheduled is not None and (table.matches < table.scheduled or not table.is_finished):
        played += ": the tournament is not complete"
    repeats = table.matches - table.rated
    sentences = [f"{played}. "]
    if repeats:
        sentences.append(
            f"{repeats} of them only {'repeats' if repeats == 1 else 'repeat'} what their bots always play from that"
            " opening; such a match is rated once. "
        )
    if table.first_seat_share is not None:
        sentences.append(f"Seat 0 scores {100 * table.first_seat_share:.1f} %. ")
    if table.draw_probability is not None:
        sentences.append(f"Two equal bots draw with probability {table.draw_probability:.3f}. ")
    sentences.append(f"{_about_the_fit(table)} ")
    if any(line.same_as_next for line in table.lines):
        sentences.append('"=": the rating and the next one can\'t be told apart at 95 %.')
    return "".join(sentences).strip()


def _about_the_fit(table: Standings) -> str:
    """Say what the ratings rest on, and whether one number for each bot is enough."""
    found = table.consistency
    text = f"Strengths spread by {table.fitted.prior_width:.1f} (estimated)"
    if found.phi is None:
        return f"{text}; too few pairs to test whether one number for each bot is enough."
    text += f"; phi = {found.phi:.2f}"
    if not found.is_flagged:
        return f"{text}: one number for each bot explains the results."
    names = dict(zip(table.labels, (line.bot for line in table.lines), strict=True))
    cycles = ", ".join(" > ".join(names[bot] for bot in (*cycle, cycle[0])) for cycle in found.cycles[:3])
    named = f" ({cycles})" if cycles else ""
    return (
        f"{text}: ONE NUMBER FOR EACH BOT MISLEADS HERE{named}; look at the crosstable, or at Nash averaging with"
        " arena stats."
    )


def crosstable_table(
    cells: Mapping[tuple[str, str], tuple[float, int]], bots: Sequence[tuple[str, str]], for_people: bool = True
) -> tuple[list[Column], list[Row]]:
    """Return the crosstable: each bot's points against each rival, best bot first.

    Args:
        cells: points and matches by (bot, rival).
        bots: (key in cells, shown name), in the order of the standings.
        for_people: cells as ``points/matches``; otherwise as JSON types.
    """
    columns = [Column("rank", "#"), Column("bot", "bot", is_number=False)]
    columns += [Column(f"against_{number}", str(number)) for number in range(1, len(bots) + 1)]
    columns.append(Column("points", "points", 1))
    rows = []
    for number, (bot, name) in enumerate(bots, 1):
        row: Row = {"rank": number, "bot": name, "points": 0.0}
        for column, (rival, rival_name) in enumerate(bots, 1):
            points, met = cells.get((bot, rival), (0.0, 0))
            row["points"] += points
            text = f"{points:g}/{met}" if met else ("-" if bot == rival else "")
            value = {"bot": rival_name, "points": points, "matches": met} if met else None
            row[f"against_{column}"] = text if for_people else value
        rows.append(row)
    return columns, rows


def places_table(places: Sequence[tuple[str, Placing]]) -> tuple[list[Column], list[Row]]:
    """Return the table of a format that ranks by itself, such as a Swiss.

    Args:
        places: the name shown and the place of each entrant.
    """
    keys = list(places[0][1].values) if places else []
    columns = [Column("place", "place"), Column("bot", "bot", is_number=False)]
    columns += [Column(_snake_case(key), key.replace("_", " "), _decimals(places, key)) for key in keys]
    rows: list[Row] = [
        {"place": place.rank, "bot": name, **{_snake_case(key): place.values[key] for key in keys}}
        for name, place in places
    ]
    return columns, rows


def _snake_case(key: str) -> str:
    return key.lower().replace("-", "_")


def _decimals(places: Sequence[tuple[str, Placing]], key: str) -> int | None:
    values = [place.values[key] for _, place in places]
    if all(float(value).is_integer() for value in values):
        return 0 if any(isinstance(value, float) for value in values) else None
    return 2 if any(4 * value % 2 for value in values) else 1
