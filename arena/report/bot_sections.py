"""A section of the report for each bot: its rating over the matches, rivals, seats, time and faults."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arena.analysis.bot_times import BotTimes
from arena.analysis.crosstable import Score
from arena.analysis.standings import Standing, Standings
from arena.records import Bot, Fault, MatchRecord
from arena.report.markup import lines_of_text, linked, name, text
from arena.report.page_charts import HistoryChart
from arena.text import counted

MAX_BOTS = 200
MAX_RIVALS = 3
"""The best and the worst; a bot with up to twice as many rivals has all of them listed."""

MAX_FAULTS = 3
MAX_STDERR_CHARACTERS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFault:
    """A fault with what the bot wrote before it.

    Attributes:
        match: the number of the match.
        fault: what the bot did wrong.
        stderr: the end of what it wrote to stderr in that match.
    """

    match: int
    fault: Fault
    stderr: str


class FaultsSeen:
    """The latest faults of each bot, by ``name@version``."""

    def __init__(self) -> None:
        """Begin with no fault."""
        self._faults: dict[str, list[SeenFault]] = {}

    def add(self, record: MatchRecord) -> None:
        """Add the faults of a match, in the order of the schedule."""
        for fault in record.faults:
            seen = self._faults.setdefault(record.bots[fault.seat], [])
            stderr = record.seats[fault.seat].stderr[-MAX_STDERR_CHARACTERS:]
            seen.append(SeenFault(match=record.match, fault=fault, stderr=stderr))
            del seen[:-MAX_FAULTS]

    def of(self, label: str) -> Sequence[SeenFault]:
        """Return the latest faults of a bot, the last first."""
        return self._faults.get(label, [])[::-1]


def bot_anchors(table: Standings) -> dict[str, str]:
    """Return the anchor of each bot's section, by the name that tables show."""
    return {line.bot: f"bot-{number}" for number, line in enumerate(table.lines[:MAX_BOTS], 1)}


class BotSections:
    """Writes the sections, from what is known of all bots."""

    def __init__(
        self,
        tournament: str,
        table: Standings,
        bots: Iterable[Bot],
        scores: Mapping[tuple[str, str], Score],
        times: Iterable[BotTimes],
        faults: FaultsSeen,
        chart: HistoryChart,
        included: Iterable[int],
    ) -> None:
        """Take what the sections are made of.

        Args:
            tournament: its name.
            table: the standings.
            bots: the entrants.
            scores: by (bot, rival), each as ``name@version``.
            times: of the bots.
            faults: of the bots.
            chart: has the rating history of each bot, by its name in tables.
            included: the matches that the page can replay.
        """
        self._tournament = tournament
        self._table = table
        self._bots = {bot.label: bot for bot in bots}
        self._scores = scores
        self._times = {line.bot: line for line in times}
        self._faults = faults
        self._chart = chart
        self._included = frozenset(included)
        self._anchors = bot_anchors(table)

    def html(self) -> str:
        """Return the sections in the order of the standings."""
        cards = "\n".join(self._card(line) for line in self._table.lines[:MAX_BOTS])
        left = len(self._table.lines) - MAX_BOTS
        rest = f"<p>{counted(left, 'more bot')}: <code>arena show NAME</code> shows each.</p>" if left > 0 else ""
        return f'{self._chart.ground()}<div class="cards">{cards}</div>{rest}'

    def _card(self, line: Standing) -> str:
        heading = f"h-{self._anchors[line.bot]}"
        version = line.label.rpartition("@")[2]
        shown = line.bot.removesuffix(f"@{version}")
        return (
            f'<section class="card" id="{self._anchors[line.bot]}" aria-labelledby="{heading}">'
            f'<h3 id="{heading}"><span class="place">{line.rank}</span> {name(shown)}'
            f' <span class="version">@{name(version)}</span></h3>'
            f"{self._chart.svg(line.bot)}<dl>{''.join(self._facts(line))}</dl>{self._rivals(line)}{self._fault_list(line)}"
            '<p class="back"><a href="#standings">to the standings</a></p></section>'
        )

    def _facts(self, line: Standing) -> Iterable[str]:
        margin = "" if line.margin is None else f" ± {line.margin:.2f}"
        yield _fact("rating", f"{line.rating.mu:.2f}{margin}, exposure {line.rating.exposure:.2f}")
        if line.score_share is not None:
            yield _fact("score", f"{100 * line.score_share:.1f} % in {counted(line.matches, 'match')}")
        shares = [(seat, line.seat_share(seat)) for seat in range(len(line.seat_matches))]
        if seats := [f"{100 * share:.0f} % in seat {seat}" for seat, share in shares if share is not None]:
            yield _fact("seats", ", ".join(seats))
        times = self._times.get(line.label)
        if times is not None and times.mean_seconds is not None and times.p99_seconds is not None:
            mean, p99, longest = times.mean_seconds, times.p99_seconds, times.longest_seconds
            yield _fact("time", f"{_ms(mean)} an action, 99 % within {_ms(p99)}, longest {_ms(longest)}")
        bot = self._bots.get(line.label)
        if bot is not None and bot.digest:
            yield _fact("files", f"digest {bot.digest[:12]}")

    def _rivals(self, line: Standing) -> str:
        shares = sorted(
            ((points / matches, self._table.shown_names[rival], matches) for rival, points, matches in self._met(line)),
            key=lambda met: (-met[0], met[1]),
        )
        if not shares:
            return ""
        if len(shares) <= 2 * MAX_RIVALS:
            return f"<h4>Against its rivals</h4>{self._rival_list(shares)}"
        return (
            f"<h4>Does best against</h4>{self._rival_list(shares[:MAX_RIVALS])}"
            f"<h4>Does worst against</h4>{self._rival_list(shares[: -MAX_RIVALS - 1 : -1])}"
        )

    def _met(self, line: Standing) -> Iterable[tuple[str, float, int]]:
        for rival in self._table.shown_names:
            points, matches = self._scores.get((line.label, rival), (0.0, 0))
            if matches and rival != line.label:
                yield rival, points, matches

    def _rival_list(self, shares: Sequence[tuple[float, str, int]]) -> str:
        items = "".join(
            f"<li>{linked(rival, self._anchors)} <span>{100 * share:.0f} %"
            f' <span class="soft">of {matches}</span></span></li>'
            for share, rival, matches in shares
        )
        return f'<ul class="rivals">{items}</ul>'

    def _fault_list(self, line: Standing) -> str:
        if not line.faults:
            return ""
        counts = ", ".join(f"{count} {text(kind)}" for kind, count in sorted(line.faults.items()))
        items = "".join(self._fault(seen) for seen in self._faults.of(line.label))
        return f'<h4>Faults: {counts}</h4><ul class="faults">{items}</ul>'

    def _fault(self, seen: SeenFault) -> str:
        number = f"match {seen.match}"
        where = f'<a href="#match-{seen.match}">{number}</a>' if seen.match in self._included else number
        stderr = f"<pre>{lines_of_text(seen.stderr)}</pre>" if seen.stderr.strip() else ""
        return (
            f"<li><b>{text(seen.fault.kind)}</b> in {where}, ply {seen.fault.ply}: {text(seen.fault.detail)}"
            f" <code>arena repro {text(shlex.quote(f'{self._tournament}/{seen.match}'))}</code>{stderr}</li>"
        )


def _fact(term: str, value: str) -> str:
    return f"<div><dt>{text(term)}</dt><dd>{text(value)}</dd></div>"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"
