from dataclasses import replace

import pytest

from arena.analysis.measures import leaderboards
from arena.analysis.measures.leaderboards import history_of_rounds
from arena.analysis.measures.standings_cache import standings_of
from arena.base.records import Bot
from tests.store.results.samples import definition, line, record


def fill(home, rounds, name="t", bots=("a@1", "b@1")):
    """Play a ladder of two matches a round; one in three is won by the second bot."""
    lines = [replace(line(match), encounter=match, round=(match + 1) // 2) for match in range(1, 2 * rounds + 1)]
    entrants = tuple(Bot(name=label[:-2], version=label[-1], command=(label,), directory="") for label in bots)
    tournament = home.store.create_tournament(definition(name=name, format="ladder", entrants=entrants), lines)
    played = [
        record(
            match, tournament=name, bots=list(bots), encounter=match, ranks=[1, 2] if match % 3 else [2, 1],
            actions=[[0, (1, match)], [1, (2, 2)]],
            started_at=f"2026-11-26T{match // 60:02}:{match % 60:02}:00+00:00",
        )
        for match in range(1, 2 * rounds + 1)
    ]  # fmt: skip
    home.store.record(tournament, played)
    return home.store.tournament(name)


@pytest.mark.parametrize(
    ("rounds", "shown"),
    [(3, [1, 2, 3]), (12, [*range(1, 13)]), (13, [2, 4, 6, 8, 10, 12, 13]), (25, [4, 8, 12, 16, 20, 24, 25])],
)
def test_rounds_are_those_that_stay_while_more_are_played(home, rounds, shown):
    history = history_of_rounds(home.store, fill(home, rounds))
    assert [one.round for one in history] == shown
    assert [one.matches for one in history] == [2 * number for number in shown]
    assert history[0].at == f"2026-11-26T00:{2 * shown[0]:02}:00+00:00"


def test_each_is_the_table_of_its_matches_and_only_the_newest_is_computed_again(home, monkeypatch):
    tournament = fill(home, 13)
    fill(home, 6, "first")
    history = history_of_rounds(home.store, tournament, cache_directory=home.cache_directory)
    assert history[2].lines[0].rating == standings_of(home.store, "first").lines[0].rating
    assert history[-1].lines[0].rating == standings_of(home.store, "t").lines[0].rating
    computed = []
    monkeypatch.setattr(
        leaderboards, "read_results", lambda *_, last_encounter, f=leaderboards.read_results: (
            computed.append(last_encounter) or f(*_, last_encounter=last_encounter)
        ),
    )  # fmt: skip
    assert history_of_rounds(home.store, tournament, cache_directory=home.cache_directory) == history
    assert computed == [26]
    few = history_of_rounds(home.store, tournament, max_matches=26 + 24 + 19)
    assert [one.round for one in few] == [12, 13]
