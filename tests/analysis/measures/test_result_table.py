import json
import random
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from itertools import groupby

import numpy as np
import pytest

from arena.analysis.measures.bot_profile import head_to_head, meetings
from arena.analysis.measures.game_statistics import Score, crosstable_of, game_statistics, pair_scores
from arena.analysis.measures.noted_numbers import MAX_KEYS, noted_numbers
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.standings import standings
from arena.base.errors import StoreError
from arena.base.results import StoredResult
from arena.store.results.scope import ALL_TOURNAMENTS
from tests.site.matches import record as noted_record
from tests.store.results.samples import definition, line, record

BOTS = [f"{letter}@1" for letter in "cabde"]


def story(seed):
    chance = random.Random(seed)
    rows = []
    for match in range(1, chance.choice([2, 30, 300])):
        if chance.random() < 0.1:
            continue
        players = chance.choice([2, 2, 3, 4])
        bots = chance.choices(BOTS, k=players) if chance.random() < 0.1 else chance.sample(BOTS, players)
        strength = [chance.choice([0, 1, BOTS.index(bot)]) for bot in bots]
        ranks = [1 + sum(other > own for other in strength) for own in strength]
        played = {"game": chance.choice(["differences", "plaid"]), "encounter": (match + 1) // 2, "opening_plies": 1}
        actions = [[0, (chance.randrange(2), 1)], [1, (chance.randrange(2), 2)]]
        rows.append(record(match, bots=bots, ranks=ranks, actions=actions, **played))
    return rows


def fill(store, name, rows):
    tournament = store.create_tournament(definition(name=name), [line(match) for match in range(1, 300)])
    store.record(tournament, rows)
    return tournament


def rated_matches(rows):
    """Return the matches that count: all from an opening whose actions vary, else the first."""
    played = defaultdict(list)
    for key, row in rows:
        played[row.opening_hash, row.bots].append((key, row.actions_hash))
    counting = set()
    for matches in played.values():
        varied = len({actions for _, actions in matches}) > 1
        counting |= {key for key, _ in (matches if varied else matches[:1])}
    return counting


def plain(rows):
    """Return the kinds of rated encounters, and for each bot its matches, finish counts, and points by seat."""
    counting = rated_matches(rows)
    kinds = Counter()
    for _, group in groupby(rows, key=lambda pair: (pair[0][0], pair[1].encounter)):
        results = tuple(
            (tuple(json.loads(row.bots)), tuple(json.loads(row.ranks)))
            for key, row in group
            if key in counting and len(set(json.loads(row.bots))) == len(json.loads(row.bots))
        )
        if results:
            kinds[results] += 1
    counts = defaultdict(lambda: [0, Counter(), defaultdict(float)])
    for _, row in rows:
        ranks = json.loads(row.ranks)
        for seat, (bot, rank) in enumerate(zip(json.loads(row.bots), ranks, strict=True)):
            counts[bot][0] += 1
            counts[bot][1][rank] += 1
            share = sum((other > rank) + (other == rank) / 2 for k, other in enumerate(ranks) if k != seat)
            counts[bot][2][seat] += share / (len(ranks) - 1)
    return kinds, counts


def decoded(arrays):
    """Return kinds of encounters from arrays, each as a multiset of results without their seats."""
    results = [
        (tuple(arrays.names[bot] for bot in members), tuple(ranks))
        for own in arrays.results
        for members, ranks in zip(own.members.tolist(), own.ranks.tolist(), strict=True)
    ]
    kinds = defaultdict(list)
    for kind, result in zip(arrays.kind.tolist(), arrays.result.tolist(), strict=True):
        kinds[kind].append(results[result])
    found = Counter()
    for kind, own in kinds.items():
        found[tuple(sorted(own))] += int(arrays.occurrences[kind])
    return found


def without_seats(result):
    """Return a result by rank and then by name, ranks from 0 without gaps."""
    bots, ranks = result
    dense = {rank: number for number, rank in enumerate(sorted(set(ranks)))}
    ordered = sorted((dense[rank], bot) for bot, rank in zip(bots, ranks, strict=True))
    return tuple(bot for _, bot in ordered), tuple(rank for rank, _ in ordered)


@pytest.mark.slow(only=("2", "3", "5", "6", "8", "9"), sample=("6",))
@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 12))])
def test_random_stories_are_counted_as_match_by_match(store, seed):
    stories = [story(2 * seed), story(2 * seed + 1)]
    tournaments = [fill(store, f"t{number}", rows) for number, rows in enumerate(stories)]
    for within, chosen in [(tournaments[1], [1]), (ALL_TOURNAMENTS, [0, 1])]:
        for game in (None, "plaid"):
            rows = [((k, row.match), row) for k in chosen for row in stories[k] if game in (None, row.game)]
            table = read_results(store, within, game)
            kinds, counts = plain(rows)
            wanted = Counter()
            for results, count in kinds.items():
                wanted[tuple(sorted(map(without_seats, results)))] += count
            assert decoded(table.rated_encounters()) == wanted
            counted = standings(table, {})
            assert counted.matches == len(rows)
            assert counted.rated == len(rated_matches(rows))
            assert {standing.label for standing in counted.lines} == set(counts)
            for standing in counted.lines:
                matches, finishes, points = counts[standing.label]
                assert standing.matches == matches
                assert list(standing.finish_counts) == [finishes[k + 1] for k in range(len(standing.finish_counts))]
                assert standing.seat_points == pytest.approx([points[k] for k in range(len(standing.seat_points))])


@pytest.mark.parametrize("seed", range(4))
def test_the_part_of_a_game_is_what_is_read_of_it(store, seed):
    rows = story(seed)
    fill(store, "t", rows)
    table = read_results(store, "t")
    assert [table.games[game] for game in table.game.tolist()] == [row.game for row in rows]
    for game in ("differences", "plaid", "unknown"):
        part, wanted = table.of_game(game), read_results(store, "t", game)
        labels, others = np.array([*part.labels, ""]), np.array([*wanted.labels, ""])
        assert labels[part.bots].tolist() == others[wanted.bots].tolist()
        for column in ("ranks", "rated", "starts", "occurrences"):
            assert getattr(part, column).tolist() == getattr(wanted, column).tolist()
        if part.starts.size:
            assert game_statistics(part) == game_statistics(wanted)


def test_one_encounter_at_the_end_of_each_piece_stays_whole(store, monkeypatch):
    monkeypatch.setattr("arena.store.results.record_reader.RESULTS_CHUNK_ROWS", 3)
    fill(store, "t", [record(match, encounter=(match + 1) // 2, actions=[[0, match]]) for match in range(1, 9)])
    table = read_results(store, ALL_TOURNAMENTS)
    assert table.starts.tolist() == [0, 2, 4, 6]
    assert table.rated.all()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("bots", '["a@1"],["b@1"]', "the result of match 2: its bots"),
        ("bots", '["a@1",7]', "the result of match 2: its bots are malformed: expected a list of names"),
        ("bots", "[]", "the result of match 2: its bots are malformed"),
        ("ranks", "[1,9]", "the result of match 2: its ranks"),
        ("start", b"\xff", r"the database holds b.\\xff. where text belongs"),
        ("encounter", "x", "the database holds 'x' where a number belongs"),
        ("encounter", -1, "the result of match 2: there is no encounter -1"),
    ],
)
def test_a_malformed_result_is_named(home, store, column, value, message):
    fill(store, "t", [record(match) for match in (1, 2, 3)])
    with closing(sqlite3.connect(home.directory / "arena.sqlite3")) as connection:
        connection.execute(f'UPDATE records SET "{column}" = ? WHERE "match" = 2', (value,))
        connection.commit()
    with pytest.raises(StoreError, match=message):
        read_results(store, ALL_TOURNAMENTS)


def test_hashes_of_another_length_are_compared_whole(home, store):
    fill(store, "t", [record(match) for match in (1, 2, 3)])
    with closing(sqlite3.connect(home.directory / "arena.sqlite3")) as connection:
        connection.execute("UPDATE records SET start = 'é', digest = 'x' WHERE \"match\" < 3")
        connection.commit()
    assert read_results(store, ALL_TOURNAMENTS).rated.tolist() == [True, False, True]


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_pairs_and_statistics_are_counted_match_by_match(store, seed):
    rows = [row for row in story(seed) if row.game == "plaid" and len(json.loads(row.bots)) == 2]
    fill(store, "t", rows)
    results = read_results(store, "t")
    points, met, encounters = Counter(), Counter(), defaultdict(list)
    for row in rows:
        (bot, rival), (mine, theirs) = json.loads(row.bots), json.loads(row.ranks)
        share = (mine < theirs) + (mine == theirs) / 2
        encounters[row.encounter].append(np.array([1, share, 1 - share, mine == theirs]))
        if bot != rival:
            points.update({(bot, rival): share, (rival, bot): 1 - share})
            met.update({(bot, rival): 1, (rival, bot): 1})
    counted = {pair: Score(points[pair], count) for pair, count in met.items()}
    assert pair_scores(results, BOTS) == counted
    assert pair_scores(results, BOTS[:2]) == {pair: score for pair, score in counted.items() if {*pair} <= {*BOTS[:2]}}
    for found in game_statistics(results):
        duplicates = len(rows) - len(rated_matches([(row.match, row) for row in rows]))
        assert (found.matches, found.encounters, found.repeats) == (len(rows), len(encounters), duplicates)
        sums = np.array([sum(group) for group in encounters.values()])
        shares = [found.seats[0], found.seats[1], found.draws]
        assert [share.value for share in shares] == pytest.approx((sums.sum(axis=0) / len(rows))[1:])
        drawn = sums[np.random.default_rng(seed).integers(0, len(sums), (1000, len(sums)))].sum(axis=1)
        low = np.quantile(drawn[:, 1:] / drawn[:, :1], 0.025, axis=0)
        assert [share.low for share in shares] == pytest.approx(low, abs=0.06)


def test_a_crosstable_of_one_game_has_no_match_of_another(store):
    played = [("plaid", [1, 2]), ("plaid", [1, 1]), ("differences", [2, 1]), ("plaid", [1, 2])]
    fill(store, "t", [record(number, game=game, ranks=ranks) for number, (game, ranks) in enumerate(played, 1)])
    for game, points, matches in (("plaid", 2.5, 3), ("differences", 0.0, 1), (None, 2.5, 4)):
        assert crosstable_of(store, "t", game).scores["a@1", "b@1"] == Score(points, matches)


def test_a_seat_that_some_matches_lack_counts_in_those_that_have_it(store):
    results = [(["a@1", "b@1"], [1, 2]), (["b@1", "a@1"], [1, 1]), (["a@1", "b@1", "c@1"], [3, 2, 1])]
    rows = [
        record(number, encounter=number, bots=bots, ranks=ranks, actions=[[0, (0, number)]])
        for number, (bots, ranks) in enumerate(results, 1)
    ]
    fill(store, "t", rows)
    (found,) = game_statistics(read_results(store, "t"))
    assert (found.matches, found.draws.value) == (3, pytest.approx(1 / 3))
    assert [seat.value for seat in found.seats] == pytest.approx([1.5 / 3, 1 / 3, 1])
    assert (found.seats[2].low, found.seats[2].high) == (1, 1)


def played(encounter, bots, ranks, opening="o", actions="x", tournament=1, game="g"):
    return StoredResult(tournament, encounter, game, tuple(bots), tuple(ranks), opening, actions)


RESULTS = [
    played(1, ["a", "b"], [1, 2], "o1", "m1"),
    played(1, ["b", "a"], [1, 2], "o1", "m2"),
    played(2, ["a", "b"], [1, 2], "o2", "m3"),
    played(2, ["b", "a"], [2, 1], "o2", "m4"),
    played(3, ["a", "b"], [1, 2], "o2", "m3"),  # the same match again
    played(3, ["b", "a"], [2, 1], "o2", "m4"),
]


def test_matches_are_counted_encounters_are_scored_and_several_versions_are_one_side():
    """Encounters 0.5 and 1: mean 0.75, variance 0.125, error sqrt((0.125 + 0.25) / 4), 1.96 of it 0.6001."""
    found = head_to_head(meetings(RESULTS, ["a"], ["b"]))
    assert (found.wins, found.draws, found.losses, found.matches) == (5, 0, 1, 6)
    assert (found.encounters, found.score) == (2, 0.75)
    assert found.margin == pytest.approx(0.600114, abs=1e-5)
    assert not found.is_clear
    results = [played(1, ["a@1", "a@2"], [1, 2], "o1", "m1"), played(2, ["a@2", "b", "a@1"], [1, 2, 2], "o2", "m2")]
    found = head_to_head(meetings(results, ["a@1", "a@2"]))
    assert (found.wins, found.draws, found.losses, found.encounters, found.score) == (1, 1, 0, 1, 0.75)
    versions = head_to_head(meetings(results, ["a@1", "a@2"], ["a@1"]))
    assert (versions.wins, versions.losses, versions.score) == (1, 1, 0.5)
    found = head_to_head(meetings([played(1, ["a", "a"], [1, 2])], ["a"], ["a"]))
    assert (found.matches, found.encounters, found.score, found.margin) == (2, 0, None, None)


def noted(notes):
    """Return a record of eight plies, two of them the opening, in which a@1 and b@1 act in turn."""
    actions = [[ply % 2, "+"] for ply in range(8)]
    return noted_record(actions, opening_plies=2, notes=list(notes.items()), bots=("a@1", "b@1"))


def test_means_are_by_bot_ply_and_phase_and_what_is_no_number_does_not_count():
    first = noted({2: {"depth": 1, "nodes": 10}, 4: {"depth": 3}, 6: {"depth": 5}, 7: {"depth": -2.5}})
    second = noted({2: {"depth": 2}, 3: {"depth": 0}})
    depth, nodes, rivals = noted_numbers([first, second])
    assert (depth.bot, depth.key, nodes.key, rivals.bot) == ("a@1", "depth", "nodes", "b@1")
    assert (depth.all.count, depth.all.value, depth.least, depth.most) == (4, 11 / 4, 1, 5)
    assert [mean.value for mean in depth.phases] == [1.5, 3.0, 5.0]  # plies 2–3, 4–5 and 6–7 of those after the opening
    assert {ply: mean.value for ply, mean in depth.plies.items()} == {3: 1.5, 5: 3.0, 7: 5.0}
    assert [mean.value for mean in rivals.phases] == [0.0, None, -2.5]
    assert [one.bot for one in noted_numbers([first, second], ["b@1"])] == ["b@1"]
    strange = {2: "depth 9", 3: ["x", 1], 4: {"on": True, "name": "x", "in": {"a": 1}, "none": None, "x" * 500: 1}}
    (line,) = noted_numbers([noted(strange)])
    assert len(line.key) <= 80
    assert list(noted_numbers([noted({2: {"nan": float("nan"), "whole": 10**400, "inf": float("inf")}})])) == []
    (large,) = noted_numbers([noted({2: {"k": 1e300}, 4: {"k": 1e300}, 6: {"k": 1.7e308}})])
    assert (large.all.value, large.most) == (1e300, 1e300)
    many = noted({ply: {f"k{ply} {k}": k for k in range(MAX_KEYS)} for ply in (2, 4, 6)})
    assert len(noted_numbers([many])) == MAX_KEYS
