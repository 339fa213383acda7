import random
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import ceil, comb, log2

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena import ratings
from arena.base.definition import Absence
from arena.base.errors import DefinitionError
from arena.base.results import StoredResult
from arena.store.results.connection import Database
from arena.tournament.director import run_tournament
from arena.tournament.formats.format import FOR_TWO, FORMATS, Field, Meeting, field_of, format_of
from arena.tournament.formats.knockout import DecidedBy, bracket
from arena.tournament.formats.round_robin import balanced_groups, circle
from arena.tournament.formats.swiss import CardLine, tie_breaks
from arena.tournament.run import Order, RunControl
from arena.tournament.schedule import rotations
from benchmarks.ladder_shares import Clock, SimulatedExecutor, ladder_of
from tests.conftest import DATA

OF_AN_ABSENCE = ("entrant", "first_round", "last_round")


def made(name, entrants, players=2, encounters=1, rng_seed=1, active=None, games=1, absences=(), **settings_):
    kind = FORMATS[name]
    names = tuple(f"e{k}" for k in range(entrants))
    numbers = {"players": players, "encounters": encounters, "rng_seed": rng_seed, "games": games}
    found = tuple(Absence(**dict(zip(OF_AN_ABSENCE, absence, strict=False))) for absence in absences)
    of_bots = {"bots": names, "names": names, "active": active, "absences": found}
    return kind(Field(settings=kind.Settings(**settings_), **of_bots, **numbers))


def result(seats, ranks):
    return StoredResult(1, 1, "differences", tuple(f"e{k}" for k in seats), ranks, "", "")


def settings_for(name, entrants):
    return {
        "gauntlet": {"challengers": ["e0"]},
        "knockout": {"seeding": "entrants"},
        "ladder": {"matches": 6 * entrants},
        "swiss": {"rounds": ceil(log2(entrants))},
    }.get(name, {})


def played(pairing, rng, draws=0.3):
    results = []
    for seats in rotations(pairing):
        order = rng.sample(range(1, len(seats) + 1), len(seats))
        results.append(result(seats, (1,) * len(seats) if rng.random() < draws else tuple(order)))
    return Meeting(pairing, tuple(results))


def first_wins(pairing):
    return Meeting(pairing, (result(pairing, (1, 2)), result(pairing[::-1], (2, 1))))


def rounds_of(format_, rng, draws=0.3):
    rounds = []
    while (upcoming := format_.next_round()) is not None:
        assert format_.next_round() == upcoming, "asking changes nothing"
        rounds.append(upcoming)
        results = [played(pairing, rng, draws) for pairing in upcoming.pairings] if format_.needs_results else ()
        format_.add_results(results)
        assert len(rounds) < 10_000
    return rounds


def played_on(format_, meeting, rounds=None):
    """Yield each round of a format, or the first ones, and then play it: ``meeting`` returns that of a pairing."""
    number = 0
    while number != rounds and (upcoming := format_.next_round()) is not None:
        yield upcoming
        format_.add_results([meeting(pairing) for pairing in upcoming.pairings])
        number += 1
    assert rounds in (None, number), "there are as many"


def resumed(history, *arguments, **options):
    format_ = made(*arguments, **options)
    for meetings in history:
        format_.add_results(meetings)
    return format_


def history_of(format_, rounds, rng):
    history = []
    for _ in range(rounds):
        history.append([played(pairing, rng) for pairing in format_.next_round().pairings])
        format_.add_results(history[-1])
    return history


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.integers(2, 17), st.integers(0, 2**63), st.sampled_from([2, 3, 4]))
def test_every_format_keeps_the_contract(name, entrants, seed, players):
    if FORMATS[name].players == FOR_TWO:
        players = 2
    if entrants < players + (name == "gauntlet"):
        entrants = players + 1
    pair = [made(name, entrants, players, rng_seed=seed, **settings_for(name, entrants)) for _ in range(2)]
    first, again = (rounds_of(format_, random.Random(seed)) for format_ in pair)
    assert first == again, "the same results give the same rounds"
    assert first
    for upcoming in first:
        assert upcoming.pairings
        for pairing in upcoming.pairings:
            assert len(set(pairing)) == len(pairing) == players
            assert set(pairing) <= set(range(entrants))
        if players == 2:
            busy = [k for pairing in upcoming.pairings for k in pairing] + list(upcoming.byes)
            if name != "gauntlet":
                assert len(busy) == len(set(busy)), "nobody is in two places"
    format_ = pair[0]
    places = format_.ranking()
    assert (places is not None) == format_.has_ranking
    if places is not None:
        assert sorted(place.entrant for place in places) == list(range(entrants))
        assert [place.rank for place in places] == sorted(place.rank for place in places)
    if format_.needs_results:
        expected = format_.total_encounters()
        assert expected is not None
        if name == "swiss":
            assert expected == sum(len(upcoming.pairings) for upcoming in first)


@pytest.mark.parametrize("name", FORMATS)
def test_too_few_entrants_are_refused_in_a_sentence(name):
    with pytest.raises(DefinitionError, match=r"entrants: expected at least 2, one for each player of a match; got 1"):
        made(name, 1, **settings_for(name, 2))


REFUSED = [
    ("swiss", 8, {"players": 3, "rounds": 3}, "expected games for 2 players in this format, got 3"),
    ("swiss", 8, {"rounds": 8}, "swiss.rounds = 8: with 8 entrants at most 7 are possible"),
    ("knockout", 8, {"players": 3, "seeding": "entrants"}, "expected games for 2 players in this format, got 3"),
    ("knockout", 6, {}, "knockout.seeding is missing: with 6 entrants "),
    ("round-robin", 4, {"players": 3, "groups": 5}, "round_robin.groups = 5: 4 entrants make 4 groups of 3"),
    ("gauntlet", 4, {"challengers": ["e9"]}, "gauntlet.challengers: unknown entrant 'e9': "),
    ("gauntlet", 4, {}, "gauntlet.challengers is missing"),
]


@pytest.mark.parametrize(("name", "entrants", "options", "message"), REFUSED)
def test_settings_that_do_not_fit_are_refused(name, entrants, options, message):
    with pytest.raises(DefinitionError, match=re.escape(message)):
        made(name, entrants, **options)


def test_settings_that_just_fit_are_accepted():
    assert made("swiss", 7, rounds=7).total_encounters() == 21
    assert made("knockout", 8)


@given(st.integers(2, 40))
def test_the_circle_has_every_pair_once_and_shares_the_byes(entrants):
    rounds = list(circle(entrants))
    pairs = [pair for upcoming in rounds for pair in upcoming.pairings]
    assert sorted(pairs) == list(combinations(range(entrants), 2))
    assert len(rounds) == entrants - 1 + entrants % 2
    byes = Counter(k for upcoming in rounds for k in upcoming.byes)
    assert byes == (Counter(range(entrants)) if entrants % 2 else Counter())


@pytest.mark.slow(sample=True)
@settings(max_examples=30, deadline=None)
@given(st.integers(3, 12), st.sampled_from([3, 4]), st.integers(1, 60), st.integers(0, 99))
def test_chosen_groups_differ_and_are_balanced(entrants, players, wanted, seed):
    if entrants < players:
        entrants = players
    wanted = min(wanted, comb(entrants, players))
    groups = balanced_groups(entrants, players, wanted, seed)
    assert len(set(groups)) == len(groups) == wanted
    often = Counter(k for group in groups for k in group)
    counts = [often[k] for k in range(entrants)]
    if wanted <= comb(entrants, players) // 2:
        assert max(counts) - min(counts) <= 2


def test_chosen_groups_meet_as_equally_as_a_block_design():
    """Nine entrants, twelve groups of three: in the affine plane of order 3 every pair meets once; ours comes near."""
    met = Counter(pair for group in balanced_groups(9, 3, 12, 1) for pair in combinations(group, 2))
    assert max(met.values()) <= 2
    assert sum(met[pair] == 0 for pair in combinations(range(9), 2)) <= 8


def test_challengers_meet_everybody_else_and_the_field_rests():
    format_ = made("gauntlet", 7, challengers=["e2", "e5"])
    pairs = [pair for upcoming in rounds_of(format_, random.Random(1)) for pair in upcoming.pairings]
    assert sorted(pairs) == [(c, k) for c in (2, 5) for k in (0, 1, 3, 4, 6)]


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 24), st.integers(0, 2**32), st.floats(0, 1))
def test_a_swiss_repeats_no_pairing_and_gives_each_at_most_one_bye(entrants, seed, draws):
    rounds = min(ceil(log2(entrants)) + 2, max(1, entrants // 2))
    played_rounds = rounds_of(made("swiss", entrants, rounds=rounds), random.Random(seed), draws)
    assert len(played_rounds) == rounds
    pairs = [frozenset(pair) for upcoming in played_rounds for pair in upcoming.pairings]
    assert len(pairs) == len(set(pairs))
    byes = Counter(k for upcoming in played_rounds for k in upcoming.byes)
    assert all(number == 1 for number in byes.values())
    assert all(len(upcoming.byes) == entrants % 2 for upcoming in played_rounds)
    assert all(2 * len(upcoming.pairings) + len(upcoming.byes) == entrants for upcoming in played_rounds)


def test_the_first_round_pairs_the_upper_with_the_lower_half():
    assert sorted(made("swiss", 8, rounds=3).next_round().pairings) == [(0, 4), (1, 5), (2, 6), (3, 7)]


def perfect_matchings(members):
    if not members:
        yield []
    for k in range(1, len(members)):
        for rest in perfect_matchings([*members[1:k], *members[k + 1 :]]):
            yield [(members[0], members[k]), *rest]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32))
def test_no_other_pairing_of_a_round_has_smaller_differences_of_score(seed):
    """Eight entrants, three rounds: compared with all 105 ways to pair them."""
    rng, swiss, met = random.Random(seed), made("swiss", 8, rounds=3), set()
    for upcoming in played_on(swiss, lambda pairing: played(pairing, rng)):
        scores = [sum(line.score for line in card) for card in swiss.cards()]
        ways = [way for way in perfect_matchings(range(8)) if met.isdisjoint(map(frozenset, way))]
        least = min(sum((scores[a] - scores[b]) ** 2 for a, b in way) for way in ways)
        assert sum((scores[a] - scores[b]) ** 2 for a, b in upcoming.pairings) == least
        met.update(map(frozenset, upcoming.pairings))


@pytest.mark.slow
def test_a_thousand_entrants_are_paired_in_their_score_groups():
    """After one round without draws there are two groups of 500, and within each the upper half meets the lower."""
    swiss = made("swiss", 1000, rounds=2)
    swiss.add_results([first_wins(pairing) for pairing in swiss.next_round().pairings])
    table = [place.entrant for place in swiss.ranking()]
    expected = [(table[k], table[k + 250]) for start in (0, 500) for k in range(start, start + 250)]
    assert list(swiss.next_round().pairings) == expected


def test_the_bye_goes_to_the_lowest_who_has_had_none():
    """Five entrants, the stronger always wins: first the last of the file, then the lowest of the table."""
    format_ = made("swiss", 5, rounds=3)
    had = []
    for upcoming in played_on(format_, strong_wins):
        table = [place.entrant for place in format_.ranking()]
        (bye,) = upcoming.byes
        assert bye == next(k for k in reversed(table) if k not in had)
        had.append(bye)
    assert (had[0], len(had)) == (4, 3)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 10), st.integers(0, 2**32))
@example(10, 246)  # where no pairing by scores leaves enough, and a planned round has to be taken
def test_a_swiss_looks_ahead_so_that_every_possible_round_is_found(entrants, seed):
    """Six entrants after three rounds may be left with two triangles, which no round of three pairs covers."""
    most = entrants - 1 + entrants % 2
    played_rounds = rounds_of(made("swiss", entrants, rounds=most), random.Random(seed))
    pairs = sorted(tuple(sorted(pair)) for upcoming in played_rounds for pair in upcoming.pairings)
    assert pairs == list(combinations(range(entrants), 2))


def test_when_nobody_can_be_paired_any_more_a_sentence_says_how_many_rounds_there_were(monkeypatch):
    monkeypatch.setattr("arena.tournament.formats.swiss.MAX_LOOKAHEAD_ENTRANTS", 0)
    messages = []
    for seed in range(60):
        try:
            rounds_of(made("swiss", 6, rounds=5), random.Random(seed))
        except DefinitionError as error:
            messages.append(str(error))
    assert messages
    expected = "swiss.rounds = 5: after 3 rounds nobody can be paired without repeating a pairing; expected at most 3"
    assert messages[0] == expected


def published(name):
    found = []
    for line in (DATA / name).read_text().splitlines():
        if line.startswith("#"):
            continue
        rank, score, *rounds = line.split()
        card = []
        for cell in rounds:
            rival, colon, result = cell.partition(":")
            if colon:
                card.append(CardLine(int(rival) - 1, {"1": 1.0, "=": 0.5, "0": 0.0}[result]))
            else:
                card.append(CardLine(None, {"U": 1.0, "H": 0.5, "-": 0.0}[rival]))
        found.append((None if rank == "-" else int(rank), float(score), card))
    return found


def test_a_large_published_swiss_is_ranked_alike():
    """276 ranked participants, by score, Buchholz and Sonneborn-Berger.

    Rounds that were not played were valued by rules of the time, so the order is compared among those who, like their
    rivals, played every round: 154 of them.
    """
    table = published("swiss_karl_mala_2005.txt")
    cards = [card for _, _, card in table]
    values = tie_breaks(cards, ["BH", "SB"])
    assert [value["score"] for value in values] == [score for _, score, _ in table]
    played_all = [all(entry.rival is not None for entry in card) for card in cards]
    clean = [
        (rank, values[k])
        for k, (rank, _, card) in enumerate(table)
        if rank and played_all[k] and all(played_all[entry.rival] for entry in card)
    ]
    ordered = [(v["score"], v["BH"], v["SB"]) for _, v in sorted(clean, key=lambda pair: pair[0])]
    assert len(ordered) == 154
    assert ordered == sorted(ordered, reverse=True)


@pytest.mark.parametrize("name", ["swiss_lichess_falp5fsd.txt", "swiss_lichess_qlmfflbq.txt"])
def test_published_swisses_with_byes_are_ranked_alike(name):
    table = published(name)
    values = tie_breaks([card for _, _, card in table], ["SB"])
    assert [value["score"] for value in values] == [score for _, score, _ in table]
    ordered = [(v["score"], v["SB"]) for v in values]
    assert ordered == sorted(ordered, reverse=True)


def scored(pairing, score):
    ranks = {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}[score]
    return Meeting(pairing, (result(pairing, ranks), result(pairing[::-1], ranks[::-1])))


def test_the_cards_of_a_swiss_are_those_published():
    cards = [card for _, _, card in published("swiss_lichess_qlmfflbq.txt")]
    swiss = made("swiss", 9, rounds=9)
    for number in range(9):
        lines = [(k, card[number]) for k, card in enumerate(cards) if card[number].rival is not None]
        swiss.add_results([scored((k, rival), score) for k, (rival, score, _) in lines if k < rival])
    assert [[line[:2] for line in card] for card in swiss.cards()] == [[line[:2] for line in card] for card in cards]
    points = {1.0: (2.0, 0.0), 0.5: (1.0, 1.0), 0.0: (0.0, 2.0)}
    for card in swiss.cards():
        assert all(line.points == (None if line.rival is None else points[line.score]) for line in card)


def cards_of(*cards):
    """Return the cards of entrants, each written as its rivals, - for none, with won, drawn or lost."""
    points = {"w": 1.0, "d": 0.5, "l": 0.0}
    return [
        [CardLine(None if one[0] == "-" else int(one[0]), points[one[1]]) for one in card.split()] for card in cards
    ]


def test_tie_breaks_by_hand():
    """Scores 2.5, 2, 1, 0.5."""
    cards, codes = cards_of("1w 2w 3d", "0l 3w 2w", "3w 0l 1l", "2l 1l 0d"), ["BH", "BH-C1", "SB", "DE", "WON"]
    rows = [[value[code] for code in ("score", *codes)] for value in tie_breaks(cards, codes)]
    assert rows[:2] == [[2.5, 3.5, 3.0, 3.25, 0, 2], [2.0, 4.0, 3.5, 1.5, 0, 2]]
    assert rows[2:] == [[1.0, 5.0, 4.5, 0.5, 0, 1], [0.5, 5.5, 4.5, 1.25, 0, 0]]
    cards = cards_of("1w 2l", "0l 3w", "3l 0w", "2w 1l")
    assert [v["DE"] for v in tie_breaks(cards, ["DE"])] == [0.0] * 4  # four equals, but 0 and 3 have not met
    assert [v["DE"] for v in tie_breaks(cards_of("1w -l", "0l -w"), ["DE"])] == [1.0, 0.0]
    values = tie_breaks(cards_of("-w 1w", "2w 0l", "1l -w"), ["BH", "BH-C1", "SB", "WON"])
    assert [values[0][code] for code in ("BH", "BH-C1", "SB", "WON")] == [3.0, 2.0, 3.0, 1.0]


def test_the_draw_keeps_the_best_seeds_apart_and_upper_entrants_come_from_the_upper_half():
    """As every published draw of eight has it: 1-8, 4-5 in one half, 2-7, 3-6 in the other."""
    assert [seed + 1 for seed in bracket(8)] == [1, 8, 4, 5, 2, 7, 3, 6]
    format_ = made("knockout", 4, seeding="entrants")
    format_.add_results([scored((0, 3), 0.0), scored((1, 2), 1.0)])
    format_.add_results([scored((1, 3), 1.0)])
    final = format_.stages()[-1][0]
    assert (final.entrants, final.winner, final.points, final.score) == ((3, 1), 1, ((0.0, 2.0),), (0.0, 1.0))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 20), st.integers(1, 5), st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 1.0]))
def test_a_knockout_ends_with_one_winner_whatever_is_drawn(entrants, best_of, seed, draws):
    format_ = made("knockout", entrants, encounters=best_of, seeding="entrants", tie_encounters=2)
    rounds = rounds_of(format_, random.Random(seed), draws)
    places = format_.ranking()
    assert [place.rank for place in places][:2] == [1, 2]
    assert Counter(place.rank for place in places)[1] == 1
    often = Counter(pair for upcoming in rounds for pair in upcoming.pairings)
    assert len(often) == entrants - 1
    assert all(best_of // 2 + 1 <= number <= best_of + 2 for number in often.values())
    if draws == 1.0:  # nobody ever wins an encounter: the better seed goes on
        assert places[0].entrant == 0
        assert set(often.values()) == {best_of + 2}


def test_the_favourites_reach_the_final_and_a_duel_ends_as_soon_as_it_is_decided():
    format_ = made("knockout", 8, seeding="entrants")
    *_, last = played_on(format_, first_wins)
    assert last.pairings == ((0, 1),)
    assert [place.entrant for place in format_.ranking()][:4] == [0, 1, 2, 3]
    assert [place.rank for place in format_.ranking()] == [1, 2, 3, 3, 5, 5, 5, 5]
    rounds = played_on(made("knockout", 4, encounters=5, seeding="entrants"), strong_wins)
    assert [upcoming.pairings for upcoming in rounds] == [((0, 3), (1, 2))] * 3 + [((0, 1),)] * 3


def test_the_bracket_of_six_entrants():
    """The two best have byes; 4 beats 5 but not 1, 6 surprises 3 and then 2; the final is open."""
    format_ = made("knockout", 6, seeding="entrants")

    def bracket_now():
        return [[(duel.entrants, duel.winner) for duel in stage] for stage in format_.stages()]

    first = [((0, None), 0), ((3, 4), None), ((1, None), 1), ((2, 5), None)]
    assert bracket_now() == [first, [((0, None), None), ((1, None), None)], [((None, None), None)]]
    format_.add_results([scored((3, 4), 1.0), scored((2, 5), 0.0)])
    first = [((0, None), 0), ((3, 4), 3), ((1, None), 1), ((2, 5), 5)]
    assert bracket_now() == [first, [((0, 3), None), ((1, 5), None)], [((None, None), None)]]
    format_.add_results([scored((0, 3), 1.0), scored((1, 5), 0.0)])
    assert bracket_now() == [first, [((0, 3), 0), ((1, 5), 5)], [((0, 5), None)]]
    format_.add_results([scored((0, 5), 0.0)])
    final = format_.stages()[-1][0]
    assert (final.entrants, final.winner, final.points, final.score) == ((0, 5), 5, ((0.0, 2.0),), (0.0, 1.0))
    found = [[str(duel.decided_by) for duel in stage] for stage in format_.stages()]
    assert found == [["bye", "encounters", "bye", "encounters"], ["encounters", "encounters"], ["encounters"]]


def test_a_duel_says_what_decided_it():
    """Best of two: one encounter each, but three points of four to one; then nothing but draws."""
    by_points = made("knockout", 2, encounters=2, tie_encounters=1)
    a, b = by_points.next_round().pairings[0]
    by_points.add_results([scored((a, b), 1.0)])
    assert by_points.stages()[0][0].decided_by is None
    half = Meeting((a, b), (result((a, b), (1, 1)), result((b, a), (1, 2))))
    by_points.add_results([half])
    duel = by_points.stages()[0][0]
    assert (duel.winner, duel.decided_by, duel.points, duel.score) == (a, "points", ((2, 0), (0.5, 1.5)), (1.0, 1.0))
    by_seed = made("knockout", 2, encounters=1, tie_encounters=1)
    for _ in range(2):
        assert by_seed.stages()[0][0].winner is None
        by_seed.add_results([scored((a, b), 0.5)])
    duel = by_seed.stages()[0][0]
    assert (duel.winner, duel.decided_by, duel.score) == (a, "seed", (1.0, 1.0))
    after_more = made("knockout", 2, encounters=1, tie_encounters=3)
    for points in (0.5, 0.5, 0.0):
        after_more.add_results([scored((a, b), points)])
    at_once = made("knockout", 2)
    at_once.add_results([scored((a, b), 1.0)])
    ended = (by_points, by_seed, after_more, at_once, made("knockout", 2))
    assert [[line.decided for line in one.ranking()] for one in ended] == [
        ["by the points of a drawn final, 2.5 : 1.5", ""],
        ["as the better seed, after 1 more encounter of a drawn final", ""],
        *(["after 2 more encounters of a drawn final", ""], ["", ""], ["", ""]),
    ]


def strong_wins(pairing):
    ranks = tuple(1 + sorted(pairing).index(k) for k in pairing)
    return Meeting(pairing, tuple(result(pairing, ranks) for _ in pairing))


@pytest.mark.slow(only=("3",))
@pytest.mark.parametrize("players", [2, 3])
def test_a_ladder_starves_nobody_and_lets_neighbours_meet(players):
    rng = random.Random(5)
    format_ = made("ladder", 9, players, matches=900)
    waits, apart = Counter(), []
    rounds = played_on(format_, lambda p: strong_wins(p) if rng.random() < 0.8 else played(p, rng), rounds=40)
    for number, upcoming in enumerate(rounds):
        busy = {k for pairing in upcoming.pairings for k in pairing}
        for k in range(9):
            waits[k] = 0 if k in busy else waits[k] + 1
            assert waits[k] <= 5
        if number > 20:
            apart += [abs(a - b) for pairing in upcoming.pairings for a, b in combinations(pairing, 2)]
    at_random = (9 + 1) / 3
    assert sum(apart) / len(apart) < 0.9 * at_random


@pytest.mark.parametrize(("encounters", "games"), [(1, 1), (1, 3), (2, 1), (5, 2)])
def test_a_ladder_stops_after_so_many_matches(encounters, games):
    for matches in (12, 24, 36, 60, 120):
        format_, found, rng = made("ladder", 9, 2, encounters, games=games, matches=matches), 0, random.Random(1)
        assert 2 * games * format_.total_encounters() == matches
        while (upcoming := format_.next_round()) is not None:
            times = games * (upcoming.encounters or encounters)
            meetings = [Meeting(pair, times * played(pair, rng).results) for pair in upcoming.pairings]
            found += sum(len(meeting.results) for meeting in meetings)
            format_.add_results(meetings)
        assert found == matches


def test_a_ladder_stops_when_it_is_sure():
    sure = made("ladder", 4, margin_95=4.0)
    rounds_of(sure, random.Random(1))
    assert sure.stop_limits().widest_margin <= 4.0
    begun = made("ladder", 5, margin_95=4.0)
    begun.add_results([first_wins(pairing) for pairing in begun.next_round().pairings])
    assert begun.stop_limits().widest_margin is None, "one of the five has not met anybody"


def test_a_ladder_says_how_it_rates_those_it_is_least_certain_of():
    """Twenty are known well, and of three newcomers two have met each other and drawn."""
    rng = random.Random(6)
    grown = made("ladder", 23, matches=10_000)
    for _ in range(60):
        pairing = tuple(sorted(rng.sample(range(20), 2)))
        grown.add_results([played(pairing, rng)])
    assert all(one.bot not in grown.field.bots[20:] for one in grown.least_certain())
    results = [StoredResult(1, 1, "g", (grown.field.bots[20], grown.field.bots[21]), (1, 1), "", "")]
    grown.add_results([Meeting((20, 21), tuple(results))])
    found = grown.least_certain()
    assert len(found) == 16
    assert {one.bot for one in found[:2]} == set(grown.field.bots[20:22])
    assert [one.margin_95 for one in found] == sorted((one.margin_95 for one in found), reverse=True)
    assert found[0].mu == pytest.approx(found[1].mu)
    assert made("round-robin", 4).least_certain() == ()


def test_those_who_are_known_still_play_now_and_then():
    """Two newcomers among eight who are known well: the newcomers play always, and nobody waits longer than a while."""
    rng = random.Random(4)
    history = history_of(made("ladder", 8, matches=10_000), 60, rng)
    grown = resumed(history, "ladder", 10, matches=10_000)
    waits = Counter()
    for upcoming in played_on(grown, lambda p: strong_wins(p) if {8, 9} & {*p} else played(p, rng), rounds=12):
        busy = {k for pairing in upcoming.pairings for k in pairing}
        assert {8, 9} <= busy
        for k in range(8):
            waits[k] = 0 if k in busy else waits[k] + 1
            assert waits[k] <= 4


def test_a_resumed_ladder_goes_on_alike_and_is_rated_once(monkeypatch):
    rng, history, fits = random.Random(6), [], []
    fit = ratings.fit_counted
    monkeypatch.setattr(ratings, "fit_counted", lambda *args, **options: fits.append(1) or fit(*args, **options))
    going_on = made("ladder", 6, matches=10_000)
    for number in range(20):
        again = resumed(history, "ladder", 6, matches=10_000)
        fits.clear()
        upcoming = going_on.next_round()
        assert again.next_round() == upcoming, number
        assert len(fits) <= 3, "one of who goes on, and of the resumed one two: for draws, and for all results"
        assert again.stop_limits() == going_on.stop_limits()
        history.append([played(p, rng) for p in upcoming.pairings])
        going_on.add_results(history[-1])
    fits.clear()
    for meetings in history:
        again.add_results(meetings)
    assert not fits


def test_who_has_left_a_ladder_is_not_paired():
    format_ = made("ladder", 5, matches=100, active=frozenset({0, 2, 3}))
    for upcoming in rounds_of(format_, random.Random(1)):
        assert {k for pairing in upcoming.pairings for k in pairing} <= {0, 2, 3}


NAMES = tuple(f"e{k}" for k in range(10))
SECONDS = {f"{name}@1": 1.0 for name in NAMES}


@pytest.fixture
def rows_read(monkeypatch):
    counted = [0]
    read = Database.rows

    def counting(self, query):
        rows = read(self, query)
        counted[0] += len(rows)
        return rows

    monkeypatch.setattr(Database, "rows", counting)
    return lambda: counted[0]


class Rounds(RunControl):
    """Lets a run play some rounds; ``entering`` says with how many entrants each of them begins."""

    def __init__(self, rows_read):
        self._rows_read = rows_read
        self.left = 0
        self.rows = []

    def order(self):
        return Order.PLAY if self.left else Order.DRAIN

    def play(self, store, entrants, rounds):
        self.left, self.rows = rounds, []

        def refresh():
            self.left -= 1
            self.rows.append(self._rows_read())
            return ladder_of(NAMES[:entrants]) if len(self.rows) == 1 else None

        executor = SimulatedExecutor(Clock(), SECONDS, 1)
        before = ladder_of(NAMES[: entrants - 1])
        run_tournament(before, store, executor=executor, refresh=refresh, control=self)
        return [after - before for before, after in zip(self.rows, self.rows[1:], strict=False)]


@pytest.mark.slow
def test_neither_who_enters_nor_a_run_after_another_reads_a_row_of_earlier_matches(store, rows_read):
    """The first of each list is of the round in which somebody entered, the others of those in which nobody did."""
    control = Rounds(rows_read)
    before = rows_read()
    early = control.play(store, 5, rounds=4)
    in_first_run = rows_read() - before
    control.play(store, 6, rounds=120)
    assert store.tournament("t").recorded > 400
    before = rows_read()
    assert max(control.play(store, 7, rounds=4)) <= 2 * max(early)
    assert rows_read() - before <= 2 * in_first_run


def random_meeting(pairing, rng):
    meeting = played(pairing, rng)
    results = (one._replace(bots=tuple(f"{name}@1" for name in one.bots)) for one in meeting.results)
    return meeting._replace(results=tuple(results))


def test_a_ladder_that_has_grown_pairs_as_one_that_is_resumed():
    rng = random.Random(3)
    definition = replace(ladder_of(NAMES[:5]), absences=(Absence(entrant=2, first_round=3, last_round=9),))
    grown, history = format_of(definition), []
    for number in range(30):
        if number % 6 == 5:
            entrants = len(definition.entrants) + 1
            active = frozenset(range(entrants)) - {number // 6}
            absences = definition.absences
            definition = replace(ladder_of(NAMES[:entrants]), active=active, absences=absences)
            grown.field = field_of(definition)
        resumed = format_of(definition)
        for meetings in history:
            resumed.add_results(meetings)
        upcoming = grown.next_round()
        assert resumed.next_round() == upcoming, number
        assert resumed.stop_limits() == grown.stop_limits()
        history.append([random_meeting(pairing, rng) for pairing in upcoming.pairings])
        grown.add_results(history[-1])


# who has withdrawn or is disqualified, in the formats whose rounds depend on results


@pytest.mark.slow(only=("ladder",))
@pytest.mark.parametrize("name", ["swiss", "knockout", "ladder"])
@settings(deadline=None, max_examples=40)
@given(entrants=st.integers(2, 12), data=st.data(), seed=st.integers(0, 10**6))
def test_nobody_is_paired_while_absent_and_every_tournament_ends(name, entrants, data, seed):
    rounds = st.tuples(st.integers(0, entrants - 1), st.integers(1, 6))
    absences = data.draw(st.lists(rounds, max_size=entrants, unique_by=lambda absence: absence[0]))
    planned, rng = made(name, entrants, absences=absences, **settings_for(name, entrants)), random.Random(seed)
    for number in range(1, 100):
        upcoming = planned.next_round()
        if upcoming is None:
            break
        paired = [k for pairing in upcoming.pairings for k in pairing]
        assert len(paired) == len(set(paired))
        absent = {k for k, first in absences if first <= number}
        assert not absent & set(paired)
        if name != "knockout":  # where byes are also those who wait for their next rival
            assert not absent & set(upcoming.byes)
        planned.add_results([played(pairing, rng) for pairing in upcoming.pairings])
    else:
        pytest.fail("it does not end")


@pytest.mark.parametrize(("absent", "winner"), [([3], 0), ([0], 3), ([0, 3], 0)], ids=["worse", "better", "both"])
def test_the_rival_of_an_absent_entrant_advances_and_the_better_seed_if_both_are_absent(absent, winner):
    knockout = made("knockout", 4, absences=[(k, 1) for k in absent], seeding="entrants")
    assert knockout.next_round().pairings == ((1, 2),)
    first = knockout.stages()[0][0]
    assert (first.entrants, first.winner, first.decided_by) == ((0, 3), winner, DecidedBy.WALKOVER)


def test_a_final_of_two_absent_entrants_has_a_winner_without_a_match():
    knockout = made("knockout", 2, absences=[(0, 1), (1, 1)], seeding="entrants")
    assert knockout.next_round() is None
    assert [placing.entrant for placing in knockout.ranking() if placing.rank == 1] == [0]


def test_an_absence_is_no_bye_and_the_rival_of_who_left_in_the_middle_has_the_point():
    """By the FIDE Handbook, C.04.1, it is a point without a game that rules out a bye."""
    swiss = made("swiss", 4, absences=[(3, 1, 1), (0, 2)], rounds=3)
    upcoming = swiss.next_round()
    assert 3 not in {k for pairing in upcoming.pairings for k in pairing}
    swiss.add_results([first_wins(pairing) for pairing in upcoming.pairings])
    assert swiss.cards()[3] == (CardLine(None, 0.0),)
    assert swiss.next_round().byes == (3,)  # of the three who are left the lowest
    swiss = made("swiss", 4, absences=[(0, 1)], rounds=2)
    meetings = [first_wins((0, 2)), first_wins((1, 3))]  # some of their matches were played
    swiss.add_results(meetings)
    assert [swiss.cards()[k][0].score for k in range(4)] == [0.0, 1.0, 1.0, 0.0]


def test_a_small_rest_of_a_large_swiss_is_paired_to_its_end():
    """Six of twenty are left, and five rounds: three rounds without look-ahead may leave two triangles."""
    for seed in range(20):
        swiss, rng = made("swiss", 20, absences=[(k, 1) for k in range(6, 20)], rounds=5), random.Random(seed)
        for number in range(1, 6):
            upcoming = swiss.next_round()
            assert upcoming is not None, (seed, number)
            swiss.add_results([played(pairing, rng) for pairing in upcoming.pairings])
