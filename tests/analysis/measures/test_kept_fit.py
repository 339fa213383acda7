"""A kept fit makes the next table quicker and no other, whatever its file holds."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from arena.analysis.measures import kept_files, standings_cache
from arena.analysis.measures.kept_files import digest_of, read_start
from arena.analysis.measures.standings_cache import standings_of
from arena.ratings.set_fit import SetFit
from arena.store.home import ArenaHome
from arena.tournament.corrections.corrected_tournament import void_matches
from tests.site.duels import tell

BOTS = tuple(f"{letter}@1" for letter in "abcdef")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(standings_cache, "MIN_KEPT_MATCHES", 10)
    rng = random.Random(7)
    with ArenaHome(tmp_path / "home") as opened:
        matches = []
        for number in range(200):
            bots = sorted(rng.sample(BOTS, 2))
            matches.append((bots, rng.choice([[1, 2], [1, 2], [2, 1], [1, 1]]), number // 2))
        tell(opened, matches, "t", entrants=BOTS, games=("differences",))
        opened.store.set_finished(opened.store.tournament("t"), False)
        yield opened


def table(home, is_kept=True):
    return standings_of(home.store, "t", cache_directory=home.cache_directory if is_kept else None)


def assert_right(home):
    kept, afresh = table(home), table(home, is_kept=False)
    assert np.array(kept.fitted.ratings) == pytest.approx(np.array(afresh.fitted.ratings), rel=1e-9)
    assert kept.fitted.draws == pytest.approx(afresh.fitted.draws, abs=1e-8)
    shown = ("rank", "group", "matches", "wins", "rank_interval")
    assert [[getattr(line, name) for name in shown] for line in kept.lines] == [
        [getattr(line, name) for name in shown] for line in afresh.lines
    ]


def path_of(home):
    (path,) = home.cache_directory.glob("*.fit")
    return path


def test_the_next_table_takes_fewer_sweeps_and_is_the_same(home, monkeypatch):
    sweeps, sweep = [], SetFit.sweep
    monkeypatch.setattr(SetFit, "sweep", lambda *arguments: sweeps.append(1) or sweep(*arguments))
    table(home)
    first, _ = len(sweeps), sweeps.clear()
    table(home)
    assert len(sweeps) < first
    assert_right(home)


def test_a_correction_is_followed(home):
    table(home)
    void_matches(home.store, "t", range(1, 41), reason="a power cut")
    assert_right(home)


def sealed(line, data):
    text = json.dumps(line).encode() + b"\n"
    return text + data + digest_of(text, data)


@pytest.mark.slow
def test_whatever_the_file_holds_the_table_is_right(home):
    table(home)
    path = path_of(home)
    content = path.read_bytes()
    text, _, rest = content.partition(b"\n")
    line, data = json.loads(text), rest[:-16]
    numbers = np.frombuffer(data).copy()
    spoiled = [
        b"",
        content[:-1],
        content[:-20] + bytes([content[-20] ^ 1]) + content[-19:],
        sealed({**line, "key": ["another version", *line["key"][1:]]}, data),
        sealed({**line, "names": line["names"][::-1]}, data),
        sealed({**line, "names": ["x"] * 6}, data),
        sealed({**line, "draw_probability": 1.0}, data),
        sealed({**line, "prior_width": float("inf")}, data),
        sealed(line, np.where(np.arange(12) == 3, np.nan, numbers).tobytes()),
        sealed(line, np.where(np.arange(12) == 9, 0.0, numbers).tobytes()),
    ]
    for other in spoiled:
        path.write_bytes(other)
        assert read_start(path, home.store.tournament("t")) is None
        assert_right(home)
        assert read_start(path, home.store.tournament("t")) is not None
    wild = sealed({**line, "draw_probability": 0.9, "prior_width": 9e3}, np.linspace(9e3, 1.0, 12).tobytes())
    path.write_bytes(wild)
    assert read_start(path, home.store.tournament("t")) is not None
    assert_right(home)


def test_it_is_of_one_tournament_and_goes_with_its_last_match(home, monkeypatch):
    monkeypatch.setattr(standings_cache, "WORTH_CACHING_SECONDS", 0.0)
    table(home)
    path, stored = path_of(home), home.store.tournament("t")
    assert read_start(path, stored).names == BOTS
    assert read_start(path, replace(stored, number=stored.number + 1)) is None
    home.store.set_finished(stored, True)
    table(home)
    assert not path.exists()


def test_a_fit_that_has_not_settled_is_not_kept(home):
    fitted = table(home, is_kept=False).fitted
    path = home.cache_directory / "x.fit"
    kept_files.write_start(path, home.store.tournament("t"), replace(fitted, is_settled=False))
    assert not path.exists()
