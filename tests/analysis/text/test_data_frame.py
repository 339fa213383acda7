import json
import math
import sys

import pytest

from arena import crosstable_of, standings_of
from arena.base.errors import UnknownNameError, UsageError
from tests.analysis.text.tournaments import FOUR, play

FRAMES = ("pandas", "polars")
pytestmark = pytest.mark.usefixtures("league")

TABLES = {"standings": standings_of, "crosstable": crosstable_of, "records": lambda store, name: store.records(name)}


def rows(table, library, columns=None):
    pytest.importorskip(library, reason=f"needs {library}")
    frame = getattr(table, f"to_{library}")(columns)
    return frame.to_dict("records") if library == "pandas" else frame.to_dicts()


@pytest.mark.parametrize("library", FRAMES)
def test_tables_have_a_row_for_each_bot_pair_and_record(home, library):
    table = standings_of(home.store, "league")
    frame = rows(table, library)
    assert [row["bot"] for row in frame] == [line.bot for line in table.lines]
    assert [row["mu"] for row in frame] == [line.rating.mu for line in table.lines]
    assert [(row["rank_low"], row["rank_high"]) for row in frame] == [line.rank_interval for line in table.lines]
    last = frame[-1]["better_than_next"]
    assert last is None if library == "polars" else math.isnan(last)
    assert sum(row["faults_protocol"] for row in frame) == sum(sum(line.faults.values()) for line in table.lines)
    table = crosstable_of(home.store, "league")
    frame = rows(table, library)
    assert len(frame) == 12
    for row in frame:
        assert (row["points"], row["matches"]) == table.scores[f"{row['bot']}@1", f"{row['rival']}@1"]
    mirrored = {(row["rival"], row["bot"]): row["matches"] - row["points"] for row in frame}
    assert {(row["bot"], row["rival"]): row["points"] for row in frame} == mirrored, "a win is a point, a tie half"
    exported = [json.loads(text) for _, text in home.store.record_texts("league")]
    frame = rows(home.store.records("league"), library)
    assert len(frame) == len(exported) == 36
    for row, values in zip(frame, exported, strict=True):
        assert list(row) == list(values)
        for key in ("match", "bots", "ranks", "scores", "faults", "seats", "time_control", "termination", "started_at"):
            assert row[key] == values[key], key
        for key in ("actions", "options", "notes", "versions"):
            assert (json.loads(row[key]) if library == "polars" else row[key]) == values[key], key


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_rows_has_the_same_columns_and_types(home, library, name):
    pytest.importorskip(library, reason=f"needs {library}")
    without_rows = f"empty {library} {name}"
    play(home, without_rows, FOUR[:2], encounters=0)
    full, empty = (getattr(TABLES[name](home.store, which), f"to_{library}")() for which in ("league", without_rows))
    assert list(full.columns) == list(empty.columns)
    assert list(full.dtypes) == list(empty.dtypes)


@pytest.mark.parametrize("library", FRAMES)
def test_some_columns_can_be_chosen_and_a_library_that_is_missing_is_named(home, library, monkeypatch):
    frame = rows(home.store.records("league"), library, ["ranks", "match"])
    assert [list(row) for row in frame[:1]] == [["ranks", "match"]]
    with pytest.raises(UnknownNameError, match="unknown column 'rank': did you mean 'ranks'"):
        rows(home.store.records("league"), library, ["rank"])
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=f"{library} is not installed here; install it with: pip install {library}"):
        getattr(home.store.records("league"), f"to_{library}")()
