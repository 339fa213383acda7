import random
from contextlib import closing
from itertools import permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arena.base.enums import FaultKind, Termination
from arena.base.errors import StoreError
from arena.base.records import Fault, SeatReport
from arena.store.results import match_lists
from arena.store.results.match_line import MAX_RECORD_CHARACTERS, LineFault, MatchKey
from arena.store.results.match_lists import MatchFilter
from arena.store.results.store import Store
from tests.databases import DATABASES, on_both
from tests.store.results.samples import definition, line, record, void

MATCHES = 160
LABELS = ["a@1", "a@2", "ab@1", "b@1", "c@1.0"]
GAMES = ["differences", "plaid"]


def made_up(chance, match):
    bots = chance.sample(LABELS, chance.choice([2, 2, 3]))
    ranks = [chance.randint(1, len(bots)) for _ in bots]
    faulty = chance.sample(range(len(bots)), chance.choice([0, 0, 1, 2]))
    faults = [
        Fault(seat=seat, kind=chance.choice(list(FaultKind)), ply=chance.randint(0, 2), detail="") for seat in faulty
    ]
    termination = "forfeit" if faults else chance.choice(["normal", "normal", "normal", "adjudication"])
    return record(
        match, game=chance.choice(GAMES), bots=bots, ranks=ranks, scores=[chance.randint(0, 9) for _ in bots],
        faults=faults, termination=termination, started_at=f"2026-01-{match % 28 + 1:02}",
        seats=[SeatReport() for _ in bots],
    )  # fmt: skip


@pytest.fixture(scope="module", params=DATABASES)
def place(request, tmp_path_factory):
    is_file = request.param == "sqlite"
    return tmp_path_factory.mktemp("s") / "x" if is_file else request.getfixturevalue("postgres").new_database()


@pytest.fixture(scope="module")
def store(place):
    with closing(Store(place)) as store:
        chance = random.Random(7)
        for name in ("t", "u", "gone"):
            tournament = store.create_tournament(definition(name=name), [line(k) for k in range(1, MATCHES + 1)])
            numbers = [match for match in range(1, MATCHES + 1) if match % 11]
            chance.shuffle(numbers)
            store.record(tournament, [made_up(chance, match) for match in numbers])
        void(store, store.tournament("t"), 5, 6, 7)
        store.delete(store.tournament("gone"))
        yield store


def is_bot(label, bot):
    return label == bot or label.split("@")[0] == bot


def fits(found, chosen):
    bot, rival = (chosen.bot, chosen.rival) if chosen.bot is not None else (chosen.rival, None)
    has_met = bot is None or any(
        is_bot(mine, bot) and (rival is None or is_bot(other, rival)) for mine, other in permutations(found.bots, 2)
    )
    faulty = [found.bots[fault.seat] for fault in found.faults if fault.kind == chosen.fault]
    has_fault = chosen.fault is None or any(chosen.bot is None or is_bot(label, chosen.bot) for label in faulty)
    is_such = chosen.game in (None, found.game) and chosen.termination in (None, found.termination)
    return has_met and has_fault and is_such


def read_all(store, number, chosen, oldest_first, limit):
    found, after = [], None
    for pages in range(1, 1000):
        page = store.match_lists.page(number, chosen, after=after, oldest_first=oldest_first, limit=limit)
        assert len(page.lines) <= limit
        found += page.lines
        if page.next is None:
            return found, pages
        after = page.next
    raise AssertionError("a list has no end")


BOT = st.none() | st.sampled_from([*LABELS, "a", "ab", "b", "nobody", "a@9", "a@", "", "%", "'"])
FILTERS = st.builds(
    MatchFilter,
    bot=BOT,
    rival=BOT,
    game=st.none() | st.sampled_from([*GAMES, "chess"]),
    termination=st.none() | st.sampled_from(Termination),
    fault=st.none() | st.sampled_from(FaultKind),
)


@pytest.mark.slow
@on_both
@settings(max_examples=60, deadline=None)
@given(
    chosen=FILTERS,
    number=st.sampled_from([1, 2]),
    oldest_first=st.booleans(),
    limit=st.integers(1, 100),
    checked=st.sampled_from([5, 40, 20_000]),
)
@example(chosen=MatchFilter(bot="a", rival="b"), number=1, oldest_first=False, limit=10, checked=5)
@example(chosen=MatchFilter(bot="a", rival="c"), number=2, oldest_first=True, limit=8, checked=5)
def test_a_list_has_every_match_that_fits_once_and_in_order(store, chosen, number, oldest_first, limit, checked):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match_lists, "MAX_CHECKED", checked)
        patch.setattr(match_lists, "PIECE_ROWS", 7)
        patch.setattr(match_lists, "MAX_COUNTED", 20)
        found, pages = read_all(store, number, chosen, oldest_first, limit)
    name = {1: "t", 2: "u"}[number]
    expected = [played for played in store.records(name) if fits(played, chosen)]
    assert [one.match for one in found] == [played.match for played in expected][:: 1 if oldest_first else -1]
    if checked > MATCHES:
        assert pages == max(1, -(-len(expected) // limit))
    for one, played in zip(found, expected if oldest_first else reversed(expected), strict=True):
        shown = (one.game, one.bots, one.ranks, one.termination, one.scores, one.plies, one.started_at, one.encounter)
        assert shown == (
            played.game, played.bots, played.ranks, played.termination, played.scores, len(played.actions),
            played.started_at, played.encounter,
        )  # fmt: skip
        assert one.faults == tuple(LineFault(fault.seat, fault.kind, fault.ply) for fault in played.faults)
        assert (one.tournament, one.round) == (number, 1)


@on_both
def test_a_page_begins_behind_any_number_and_is_no_longer_than_the_bound(store, monkeypatch):
    assert store.match_lists.page(1, after=-5).lines == ()
    assert store.match_lists.page(1, after=2**31 - 1, limit=1).lines[0].match == MATCHES
    assert store.match_lists.page(99).lines == ()
    monkeypatch.setattr(match_lists, "MAX_LINES", 100)
    page = store.match_lists.page(1, limit=10**9)
    assert (len(page.lines), page.next) == (100, page.lines[-1].match)


def test_what_is_malformed_in_a_record_is_left_out_of_its_line(tmp_path):
    with closing(Store(tmp_path / "arena.sqlite3")) as store:
        tournament = store.create_tournament(definition(), [line(match) for match in range(1, 8)])
        texts = ["[", "[]", '{"scores":[1]}', '{"scores":["1",2],"actions":[],"faults":[]}', "[" * 5000]
        texts.append('{"scores":[1,2],"actions":[],"faults":[{"seat":0,"kind":"sloth","ply":0}]}')
        texts.append('{"x":"' + "x" * MAX_RECORD_CHARACTERS + '"}')
        rows = [record(match)._replace(record=text) for match, text in enumerate(texts, 1)]
        store.record(tournament, rows)
        lines = store.match_lists.page(1).lines
        assert [(one.scores, one.plies, one.faults, one.started_at) for one in lines] == [(None,) * 4] * len(texts)
        assert {one.bots for one in lines} == {("a@1", "b@1")}


@pytest.mark.parametrize("column", ["bots", "ranks", "termination"])
def test_a_malformed_row_is_named(tmp_path, column):
    with closing(Store(tmp_path / "arena.sqlite3")) as store:
        tournament = store.create_tournament(definition(), [line(1)])
        store.record(tournament, [record(1)._replace(**{column: "[7"})])
        with pytest.raises(StoreError, match="the result of match 1: its"):
            store.match_lists.page(1)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    bots=st.lists(st.sampled_from([*LABELS, "nobody@1"]), max_size=3),
    rivals=st.none() | st.lists(st.sampled_from(LABELS), max_size=3),
    count=st.integers(1, 60),
)
def test_matches_of_bots_are_those_of_every_record(store, bots, rivals, count):
    of_bots = store.matches_of(bots, rivals)
    expected, tallies = [], {}
    for number, name in ((1, "t"), (2, "u")):
        for played in store.records(name):
            met = [
                (seat, at)
                for seat, at in permutations(range(len(played.bots)), 2)
                if played.bots[seat] in bots and (rivals is None or played.bots[at] in rivals)
            ]
            if met:
                expected.append(MatchKey(number, played.match))
            for seat, at in met:
                tally = tallies.setdefault((number, played.game, played.bots[seat], seat), [0, 0, 0])
                mine, other = played.ranks[seat], played.ranks[at]
                tally[0 if mine < other else 1 if mine == other else 2] += 1
    assert [result.tournament for result in of_bots.results()] == [key.tournament for key in expected]
    assert [(number, played.match) for number, played in of_bots.latest(count)] == expected[::-1][:count]
    assert [tuple(row) for row in of_bots.counts()] == sorted((*key, *tally) for key, tally in tallies.items())
    pages, after = [], None
    while page := of_bots.lines(count, after):
        pages += [one.key for one in page]
        after = pages[-1]
    assert pages == expected[::-1]


def test_versions_and_faults_of_a_bot(store):
    assert store.labels_of("a") == ["a@1", "a@2"]
    assert store.labels_of("c") == ["c@1.0"]
    assert store.labels_of("x@7") == ["x@7"]
    assert store.labels_of("nobody") == []
    expected = {}
    for name in ("t", "u"):
        for played in store.records(name):
            for fault in played.faults:
                if played.bots[fault.seat] in ("a@1", "a@2"):
                    expected[fault.kind] = expected.get(fault.kind, 0) + 1
    assert store.fault_counts_of(["a@1", "a@2"]) == expected
