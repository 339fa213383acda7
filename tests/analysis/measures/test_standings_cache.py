import json
import os
import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from arena.analysis.measures import standings_cache
from arena.analysis.measures.kept_files import MAX_LINE_BYTES, checksum_of
from arena.analysis.measures.result_table import CountedEncounter, ResultTable
from arena.analysis.measures.standings import standings
from arena.analysis.measures.standings_cache import cached_standings
from arena.store.results.values import StoredTournament

FINISHED = StoredTournament(
    number=1, name="t", definition_text={}, format="", scheduled=10, recorded=10,
    created_at="2026-01-01", finished_at="2026-01-02",
)  # fmt: skip


RESULTS = ResultTable.of(
    [
        CountedEncounter("differences", ((("a", "b"), (1, 2)), (("b", "a"), (1, 1))), 7),
        CountedEncounter("differences", ((("b", "c"), (2, 1)), (("c", "b"), (1, 2))), 5),
        CountedEncounter("plaid", ((("a", "b", "c"), (1, 3, 2)),), 3),
    ]
)


@cache
def table_of_four():
    """Standings in which d has no match, and so no rating."""
    return standings(RESULTS, {"a": {"timeout": 2}}, {"a": "Anna"}, everybody=["a", "b", "c", "d"])


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return the file in which a table is kept, and a function that asks for the table and tells if it was kept."""
    monkeypatch.setattr(standings_cache, "WORTH_CACHING_SECONDS", 0.0)
    made = []

    def make():
        made.append(table_of_four())
        return made[-1]

    def is_kept(**changes):
        before = len(made)
        return cached_standings(tmp_path / "cache", replace(FINISHED, **changes), make), len(made) == before

    is_kept()
    (path,) = (tmp_path / "cache").iterdir()
    return path, is_kept


def test_a_kept_table_is_the_one_that_was_made_and_made_anew_whatever_has_changed(kept, monkeypatch):
    _, is_kept = kept
    table, was_kept = is_kept()
    made = table_of_four()
    assert was_kept
    assert table == made
    assert np.array_equal(table.fitted.draws, made.fitted.draws)
    assert table.fitted != replace(table.fitted, draws=-made.fitted.draws)
    assert table.fitted != replace(table.fitted, encounters=4)
    assert np.array_equal(table.fitted.los(), made.fitted.los())
    for change in ({"recorded": 11}, {"finished_at": "x"}, {"number": 2}, {"created_at": "x"}):
        assert not kept[1](**change)[1], change
    monkeypatch.setattr(standings_cache, "code_digest", lambda: "other")
    assert not kept[1]()[1]


@pytest.mark.parametrize("spoil", ["it goes on", "nothing can be written", "it is quick"])
def test_what_is_not_kept(kept, monkeypatch, spoil):
    path, is_kept = kept
    path.unlink()
    path.parent.rmdir()
    if spoil == "nothing can be written":
        path.parent.write_text("a file in the way")
    elif spoil == "it is quick":
        monkeypatch.setattr(standings_cache, "WORTH_CACHING_SECONDS", 1000.0)
    for _ in range(2):
        assert not is_kept(**({"finished_at": None} if spoil == "it goes on" else {}))[1]
    assert not path.parent.is_dir()


class Deed:
    def __reduce__(self):
        return (Path.touch, (Path("/tmp/pickled-by-" + str(os.getpid())),))


def test_a_pickle_is_never_opened_and_what_is_no_plain_file_not_read(kept, tmp_path):
    path, is_kept = kept
    path.write_bytes(pickle.dumps(Deed()))
    assert not is_kept()[1]
    assert not Path("/tmp/pickled-by-" + str(os.getpid())).exists()
    path, is_kept = kept
    path.symlink_to(path.rename(tmp_path / "elsewhere"))
    assert not is_kept()[1]
    path.unlink()
    os.mkfifo(path)
    assert not is_kept()[1]
    path.unlink(missing_ok=True)
    path.mkdir()
    assert not is_kept()[1]
    assert list(path.parent.iterdir()) == [path]  # an unfinished file does not stay


def sealed(content):
    return content + checksum_of(content)


def parts(path):
    line, _, draws = path.read_bytes()[:-4].partition(b"\n")
    return line, draws


CHANGES = {
    "another layout": lambda kept: kept.update(layout=3),
    "a value that is missing": lambda kept: kept.pop("prior_width"),
    "a text for a number": lambda kept: kept.update(matches="10"),
    "a number that is none": lambda kept: kept.update(prior_width=float("nan")),
    "a number of 400 digits": lambda kept: kept.update(matches=10**400),
    "a text for the number of faults": lambda kept: kept["lines"][0].update(faults={"timeout": "2"}),
    "a list for a mapping": lambda kept: kept.update(consistency=[]),
    "a rating of one number": lambda kept: kept["ratings"].__setitem__(0, [25.0]),
    "a count of 400 digits": lambda kept: kept["lines"][0].update(matches=10**400),
    "a negative count": lambda kept: kept["lines"][0]["finish_counts"].__setitem__(0, -1),
    "a line too few": lambda kept: kept["lines"].pop(0),
    "a bot twice": lambda kept: kept["lines"][0].update(label=kept["lines"][1]["label"]),
    "a rating too few": lambda kept: kept["ratings"].pop(),
    "a name of nobody": lambda kept: kept["names"].__setitem__(0, "A"),
    "a cycle of strangers": lambda kept: kept["consistency"].update(cycles=[["x", "y", "z"]]),
    "a billion players": lambda kept: kept.update(players=10**9),
    "seats that don't match": lambda kept: kept["lines"][0]["seat_points"].pop(),
    "an endless rating": lambda kept: kept["lines"][0].update(rating=[25.0, float("inf")]),
    "three ends of an interval": lambda kept: kept["lines"][0].update(rank_interval=[1, 2, 3]),
    "an end below the first rank": lambda kept: kept["lines"][0].update(rank_interval=[-1, 2]),
    "a cycle of two": lambda kept: kept["consistency"].update(cycles=[["a", "b"]]),
    "deep nesting": lambda kept: kept.update(names=json.loads("[" * 900 + "]" * 900)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_does_not_fit_together_is_made_again(kept, change):
    path, is_kept = kept
    line, draws = parts(path)
    values = json.loads(line)
    CHANGES[change](values)
    path.write_bytes(sealed(json.dumps(values).encode() + b"\n" + draws))
    assert not is_kept()[1]
    assert is_kept()[1]


@pytest.mark.slow(only=("<lambda>6",))
@pytest.mark.parametrize(
    "change",
    [
        lambda line, draws: line + b"\n" + draws[:-8],
        lambda line, draws: line + b"\n" + b"\xff" * len(draws),  # numbers that are none
        lambda line, draws: line[:-1] + b"\n" + draws,
        lambda line, draws: line[:-1] + b" " * MAX_LINE_BYTES + b"}\n" + draws,
        lambda line, draws: b"{" * 100_000,
        lambda line, draws: b"[" + b"{}," * 1_300_000 + b"{}]\n",
        lambda line, draws: line.replace(b'"lines":[', b'"lines":[' + b"{}," * 1_300_000) + b"\n" + draws,
    ],
)
def test_a_file_of_another_size_or_shape_is_made_again(kept, change):
    path, is_kept = kept
    path.write_bytes(sealed(change(*parts(path))))
    assert not is_kept()[1]


@pytest.mark.parametrize("place", [0.001, 0.3, 0.7, 0.999])
def test_a_file_with_a_damaged_bit_is_made_again(kept, place):
    path, is_kept = kept
    damaged = bytearray(path.read_bytes())
    damaged[int(place * len(damaged))] ^= 1
    path.write_bytes(damaged)
    assert not is_kept()[1]
    assert is_kept()[1]


def test_a_cache_that_leads_elsewhere_is_not_written(kept, tmp_path):
    path, is_kept = kept
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path.parent.rename(tmp_path / "before")
    path.parent.symlink_to(elsewhere)
    is_kept()
    assert list(elsewhere.iterdir()) == []
