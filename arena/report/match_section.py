"""The section of the report with the matches: a list of results, and the viewer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.records import MatchRecord
from arena.report.html_page import json_data, packed_data
from arena.report.html_table import html_table
from arena.report.markup import lines_of_text, linked, name, text
from arena.report.match_view import SEAT_SHAPES, SEAT_STYLES, last_board, match_view
from arena.report.tables import Column, Row
from arena.store.store import Store
from arena.store.values import StoredTournament
from arena.text import counted

CHUNK = 50
"""Matches compressed together; the viewer unpacks a chunk when one of its matches is opened."""

MAX_BYTES = 1_200_000
"""Of the matches in a page, packed and listed, unless a number of matches is asked for."""

LINE_BYTES = 250
"""Of a match in the list, about."""

COLUMNS = [
    Column("match", "match"),
    Column("game", "game", is_number=False),
    Column("result", "result", is_number=False),
    Column("plies", "plies"),
    Column("ended", "ended", is_number=False),
]

_VIEWER = """<div id="viewer" class="card" tabindex="0" role="group" aria-label="match viewer">
<div class="play">
<h3 id="viewer-title">{title}</h3>
<ul id="seats">{seats}</ul>
{board}
<div id="controls" hidden>
<button type="button" id="first" aria-label="first: the beginning">first</button>
<button type="button" id="back" aria-label="back: one ply">‹ back</button>
<button type="button" id="play">play</button>
<button type="button" id="next" aria-label="next: one ply">next ›</button>
<button type="button" id="last" aria-label="last: the end">last</button>
</div>
<div id="progress" hidden>
<input id="slider" type="range" min="0" value="0" aria-label="ply"> <span id="ply"></span>
</div>
</div>
<div class="said">
<noscript><p class="soft">Without scripts, this is the end of one match only; arena replay shows any.</p></noscript>
<h4 id="scores-title" hidden>Score after each ply</h4>
<svg id="scores" preserveAspectRatio="none" hidden aria-hidden="true"></svg>
<h4>Actions</h4>
<ol id="actions">{actions}</ol>
<p id="comment" aria-live="polite">{comment}</p>
<div id="notes">{notes}</div>
</div>
</div>
"""
"""Without scripts it shows the end of one match."""


class MatchSection:
    """The matches that fit into a page, each with its line of the list."""

    def __init__(
        self, store: Store, tournament: StoredTournament, numbers: Sequence[int], max_matches: int | None
    ) -> None:
        """Choose the matches.

        Args:
            store: where they are.
            tournament: whose they are.
            numbers: of all matches, those first that a reader looks for first.
            max_matches: how many to take; None for as many as ``MAX_BYTES`` allow.
        """
        self._tournament = tournament
        names = tournament.definition.shown_names
        taken: list[tuple[MatchRecord, dict[str, Any]]] = []
        chunk: list[dict[str, Any]] = []
        size_bytes = 0
        for number in numbers[:max_matches]:
            record = store.record_of(tournament, number)
            taken.append((record, match_view(record, names)))
            chunk.append(taken[-1][1])
            if len(chunk) == CHUNK:
                size_bytes += len(packed_data("", chunk)) + LINE_BYTES * len(chunk)
                chunk.clear()
                if max_matches is None and size_bytes > MAX_BYTES:
                    break
        taken.sort(key=lambda both: both[0].match)
        self._taken = taken

    @property
    def numbers(self) -> list[int]:
        """The numbers of the matches in the page."""
        return [record.match for record, _ in self._taken]

    def html(self, anchors: Mapping[str, str], first: int | None) -> str:
        """Return the section.

        Args:
            anchors: the sections of bots, by the name that tables show.
            first: the match that is open at first.
        """
        if not self._taken:
            return f"<p>{text(self._about())}</p>"
        views = [view for _, view in self._taken]
        opened = next((view for view in views if view["match"] == first), views[-1])
        names = self._tournament.definition.shown_names
        rows = [_list_row(record) for record, _ in self._taken]
        results = {record.match: _result(record, names, anchors) for record, _ in self._taken}
        cells = {
            "match": lambda row: f'<a id="match-{row["match"]}" href="#match-{row["match"]}">{row["match"]}</a>',
            "result": lambda row: results[row["match"]],
            "ended": lambda row: _ending(row, names),
        }
        columns = [column for column in COLUMNS if column.key != "game" or len(self._tournament.games) > 1]
        table = html_table(columns, rows, "matches", anchors, cells, sorted_by="match")
        chunks = [views[k : k + CHUNK] for k in range(0, len(views), CHUNK)]
        return "\n".join(
            [
                f"<p>{text(self._about())}</p>",
                _viewer(opened),
                '<p id="search" hidden><label>Find matches <input id="filter" type="search"'
                ' placeholder="bot, game, number or fault"></label> <span id="found" role="status"></span></p>',
                f'<div id="list">{table}</div>',
                json_data("index", {"chunk": CHUNK, "matches": self.numbers, "first": opened["match"]}),
                *(packed_data(f"chunk-{number}", chunk) for number, chunk in enumerate(chunks)),
            ]
        )

    def _about(self) -> str:
        recorded, included = self._tournament.recorded, len(self._taken)
        if not recorded:
            return "No match has been recorded yet."
        if included == recorded:
            which = f"All {recorded:,} matches" if recorded > 1 else "The match"
            return f"{which} can be replayed here: choose one in the list; arrow keys step through it."
        return (
            f"{included:,} of {counted(recorded, 'match')} can be replayed here: the last of each pairing, those with"
            f" faults, and the latest. arena report --max-matches {recorded} includes all of them; arena replay"
            f" {shlex.quote(f'{self._tournament.name}/NUMBER')} shows any."
        )


def _viewer(view: Mapping[str, Any]) -> str:
    seats = "".join(
        f"<li>{_key(seat)} {name(bot)} <b>{text(score)}</b></li>"
        for seat, (bot, score) in enumerate(zip(view["bots"], view["scores"][-1], strict=True))
    )
    actions = "".join(
        f"<li>{_key(seat)}<span>{number}</span> <b>{text(action)}</b></li>"
        for number, (seat, action) in enumerate(view["actions"], 1)
    )
    return _VIEWER.format(
        title=f"Match {view['match']}: {text(' – '.join(view['bots']))}",
        seats=seats,
        board=last_board(view),
        actions=actions,
        comment=text(view["end"]),
        notes=lines_of_text("\n".join(view["notes"][-1])),
    )


def _key(seat: int) -> str:
    """Return the mark of a seat, beside its bot's name or action."""
    return (
        f'<svg class="key seat{seat % SEAT_STYLES}" viewBox="0 0 20 20" aria-hidden="true">'
        f'<use href="#mark{seat % SEAT_SHAPES}" width="20" height="20"/></svg>'
    )


def _list_row(record: MatchRecord) -> Row:
    return {
        "match": record.match,
        "game": record.game,
        "result": "",
        "plies": len(record.actions),
        "ended": record.termination,
        "record": record,
    }


def _ending(row: Row, names: Mapping[str, str]) -> str:
    record: MatchRecord = row["record"]
    faults = [f"{names.get(record.bots[fault.seat], record.bots[fault.seat])}: {fault.kind}" for fault in record.faults]
    if not faults:
        return text(record.termination)
    return f'<span class="fault">{text(", ".join(faults))}</span>'


def _result(record: MatchRecord, names: Mapping[str, str], anchors: Mapping[str, str]) -> str:
    return ", ".join(_seat_results(record, names, anchors))


def _seat_results(record: MatchRecord, names: Mapping[str, str], anchors: Mapping[str, str]) -> Iterator[str]:
    """Yield bot and score of each seat, in the order of the seats; the winner is strong."""
    for seat, bot in enumerate(record.bots):
        shown = linked(names.get(bot, bot), anchors)
        is_winner = record.ranks[seat] == 1 and record.ranks.count(1) == 1
        yield f"{f'<b>{shown}</b>' if is_winner else shown} {record.scores[seat]:g}"
