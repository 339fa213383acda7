"""The score of each bot against each other."""

from __future__ import annotations

from arena.analysis.text.tables import Column
from arena.site.frame.model import Model, Table


class CrosstableCell(Model):
    """What a bot scored against a rival.

    Attributes:
        points: a win is a point, a tie half.
        matches: in which they met.
    """

    points: float
    matches: int


class Crosstable(Model):
    """The score of each bot against each other, of the first in the standings.

    Attributes:
        bots: ``name@version`` each, in the order of the standings.
        names: what tables call them.
        cells: for each bot what it scored against each; None where they have not met.
        left_out: how many bots further down have no line.
    """

    bots: tuple[str, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[CrosstableCell | None, ...], ...]
    left_out: int = 0

    def table(self) -> Table:
        """Return it as CSV has it."""
        columns = [Column("rank", "#"), Column("bot", "bot", is_number=False)]
        columns += [Column(f"against_{number}", str(number)) for number in range(1, len(self.bots) + 1)]
        rows = []
        for number, (name, cells) in enumerate(zip(self.names, self.cells, strict=True), 1):
            values = {f"against_{rival}": _share(cell) for rival, cell in enumerate(cells, 1)}
            rows.append({"rank": number, "bot": name, **values})
        return Table(columns, rows)


def _share(cell: CrosstableCell | None) -> float | None:
    return cell.points / cell.matches if cell is not None else None
