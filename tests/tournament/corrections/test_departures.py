import re
import shutil
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import ArenaHome
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.verification import verify
from arena.base.enums import DisqualifiedMatches
from arena.base.errors import UsageError
from arena.tournament.corrections.corrected_tournament import undo_correction, void_matches
from arena.tournament.corrections.entrants import disqualify, enter_late, replace_bot, withdraw
from arena.tournament.formats.swiss import CardLine
from arena.tournament.rounds import played_format, ranking_of
from tests.tournament.corrections.contest import contest, play, reckoned, records, tabled, write_bots

SIX = ("ann", "bob", "cid", "dan", "eve", "fay")


@pytest.fixture
def six(tmp_path, no_check):
    return write_bots(tmp_path / "bots", SIX)


def swiss(bots, rounds=4):
    return contest(bots, format="swiss", settings={"rounds": rounds})


def lines_of(home, number=None):
    return [line for line in home.store.schedule(home.store.tournament("t")) if number in (None, line.round)]


def scores(home):
    ranking = ranking_of(home.store, home.store.tournament("t"))
    return {name: placing.values["score"] for name, placing in ranking}


def cards(home):
    return played_format(home.store, home.store.tournament("t")).cards()


def play_round(home, definition, number):
    play(home, definition, max_matches=0)
    while home.store.last_round(home.store.tournament("t")) <= number:
        play(home, definition, max_matches=1)


def one_has_left(home, definition):
    play(home, definition, max_matches=0)
    leaver, rival = lines_of(home, 1)[0].seats
    withdraw(home.store, "t", SIX[leaver], reason="x")
    return leaver, rival


def test_in_a_swiss_who_leaves_keeps_the_bye_of_an_earlier_departure(home, six):
    definition = swiss(six)
    _, rival = one_has_left(home, definition)
    play_round(home, definition, 1)
    assert scores(home)[SIX[rival]] == 1.0
    play_round(home, definition, 2)
    before = scores(home)
    withdraw(home.store, "t", SIX[rival], reason="moved away as well")
    assert scores(home) == before
    assert play(home, definition).is_complete
    assert scores(home)[SIX[rival]] == before[SIX[rival]]


@pytest.mark.parametrize("leave", [withdraw, disqualify], ids=["withdraw", "disqualify"])
def test_in_a_swiss_who_leaves_before_a_void_match_is_played_again_keeps_its_other_rounds(home, six, leave):
    definition = swiss(six)
    play_round(home, definition, 3)
    void = next(line for line in lines_of(home, 1) if 0 in line.seats)
    before = cards(home)
    void_matches(home.store, "t", [void.match], reason="the power failed")
    keep = {} if leave is withdraw else {"matches": DisqualifiedMatches.KEEP}
    leave(home.store, "t", "ann", reason="moved away", **keep)
    play(home, definition, max_matches=0)
    after = cards(home)
    assert [card[1:3] for card in after] == [card[1:3] for card in before]
    assert after[0][0] == CardLine(None, 0.0)
    assert after[sum(void.seats)][0] == CardLine(None, 1.0)  # the rival of entrant 0


def test_in_a_knockout_who_leaves_after_a_walkover_stays_in_the_stages_it_has_won(home, six):
    definition = contest(six[:4], format="knockout", settings={"seeding": "entrants"})
    play(home, definition, max_matches=0)
    withdraw(home.store, "t", "ann", reason="x")  # dan, the worse seed, advances
    while {3} - {k for line in lines_of(home) if line.round > 1 for k in line.seats}:
        play(home, definition, max_matches=1)
    stages = [(line.round, set(line.seats)) for line in lines_of(home)]
    withdraw(home.store, "t", "dan", reason="x")
    assert play(home, definition).is_complete
    assert [(line.round, set(line.seats)) for line in lines_of(home)] == stages
    ranks = {name: placing.rank for name, placing in ranking_of(home.store, home.store.tournament("t"))}
    assert ranks.pop("dan") == 2
    assert ranks.pop("ann") == 3
    assert sorted(ranks.values()) == [1, 3]


def test_in_a_swiss_a_pair_that_left_one_after_the_other_has_one_point_at_most(home, six):
    definition = swiss(six)
    leaver, rival = one_has_left(home, definition)
    play_round(home, definition, 1)
    withdraw(home.store, "t", SIX[rival], reason="x")
    undo_correction(home.store, "t", 1, reason="x")  # their match can't be played, now because of the rival
    of_the_first_round = scores(home)
    assert (of_the_first_round[SIX[leaver]], of_the_first_round[SIX[rival]]) == (1.0, 0.0)
    undo_correction(home.store, "t", 2, reason="x")
    missing = {frozenset(line.seats) for line in home.store.unplayed(home.store.tournament("t")) if line.round == 1}
    assert missing == {frozenset({leaver, rival})}
    assert play(home, definition).is_complete
    assert verify(home, home.store.tournament("t")).problems == []


def test_in_a_swiss_who_leaves_in_the_round_in_which_its_rival_left_has_no_point_for_it(home, six):
    definition = swiss(six)
    leaver, rival = one_has_left(home, definition)
    withdraw(home.store, "t", SIX[rival], reason="x")
    assert play(home, definition).is_complete
    assert (scores(home)[SIX[leaver]], scores(home)[SIX[rival]]) == (0.0, 0.0)


def test_in_a_swiss_who_comes_back_has_the_result_of_a_match_that_was_void_meanwhile(home, six):
    definition = swiss(six)
    play_round(home, definition, 2)
    before = cards(home)
    withdraw(home.store, "t", "ann", reason="x")
    void = next(line.match for line in lines_of(home, 1) if 0 in line.seats)
    void_matches(home.store, "t", [void], reason="the power failed")
    undo_correction(home.store, "t", 1, reason="came back")
    assert void in {line.match for line in home.store.unplayed(home.store.tournament("t"))}
    play(home, definition, max_matches=1)  # the same scripts play the same again
    assert [card[:2] for card in cards(home)] == [card[:2] for card in before]


def test_in_a_swiss_a_void_match_does_not_count_again_before_the_later_withdrawal_is_undone(home, six):
    play_round(home, swiss(six), 2)
    before, of_all = records(home), cards(home)
    void = next(line.match for line in lines_of(home, 1) if 0 in line.seats)
    void_matches(home.store, "t", [void], reason="the power failed")
    withdraw(home.store, "t", "ann", reason="x")
    with pytest.raises(UsageError, match=r"correction 2 \(withdrawal\) came later and builds on it"):
        undo_correction(home.store, "t", 1, reason="x")
    undo_correction(home.store, "t", 2, reason="x")
    undo_correction(home.store, "t", 1, reason="x")
    assert records(home) == before
    assert cards(home) == of_all


def test_records_of_another_tournament_are_no_records_of_a_match_that_is_left_out(home, six):
    play(home, contest(six, name="another"))
    definition = swiss(six)
    play_round(home, definition, 1)
    withdraw(home.store, "t", "ann", reason="x")
    stored = home.store.tournament("t")
    assert stored.scheduled == 6 + 4  # a whole round, and the next one without ann's two matches
    assert play(home, definition).is_complete


def test_the_files_of_bots_that_were_taken_out_again_or_are_disqualified_are_not_needed(home, bots, newcomer, tmp_path):
    (mended,) = write_bots(tmp_path / "mended", ["bob"], "mended")
    play(home, contest(bots), max_matches=6)
    enter_late(home.store, "t", newcomer, reason="x")
    undo_correction(home.store, "t", reason="entered by mistake")
    replace_bot(home.store, "t", "bob", mended, reason="x")
    disqualify(home.store, "t", "bob", reason="the new files are copied")
    for name in ("new", "mended"):
        shutil.rmtree(tmp_path / name)
    assert play(home, contest(bots)).is_complete


@pytest.mark.parametrize(("first", "rivals"), [(False, {1, 2, 3, 4}), (True, {0, 4})])
def test_a_bot_that_entered_a_gauntlet_in_the_wrong_place_enters_again(home, bots, newcomer, first, rivals):
    definition = contest(bots, format="gauntlet", settings={"challengers": ["ann"]})
    play(home, definition)
    enter_late(home.store, "t", newcomer, reason="x", is_challenger=first)
    undo_correction(home.store, "t", reason="in the wrong place")
    enter_late(home.store, "t", newcomer, reason="x", is_challenger=not first)
    assert {k for line in home.store.unplayed(home.store.tournament("t")) for k in line.seats} == rivals
    assert home.store.tournament("t").definition.settings["challengers"] == (["ann"] if first else ["ann", "eve"])
    assert play(home, definition).is_complete
    assert verify(home, "t").problems == []


def test_a_bot_enters_again_with_other_files(home, bots, newcomer, tmp_path):
    play(home, contest(bots))
    enter_late(home.store, "t", newcomer, reason="x")
    play(home, contest(bots))
    undo_correction(home.store, "t", reason="the wrong files")
    (other,) = write_bots(tmp_path / "right", ["eve"], "the right ones")
    enter_late(home.store, "t", other, reason="x")
    assert play(home, contest(bots)).is_complete
    assert home.store.tournament("t").definition.entrants[4].digest == other.digest
    assert verify(home, home.store.tournament("t")) == (20, [])


def test_a_replacement_does_not_make_two_of_the_same_name_and_version(home, bots, tmp_path):
    (other,) = write_bots(tmp_path / "other", ["bob"], "the second version")
    second = replace(other, version="2")
    play(home, contest((*bots, second)), max_matches=0)
    with pytest.raises(UsageError, match=r"bot 'bob@2': another .* version; give the new files another version$"):
        replace_bot(home.store, "t", "bob@1", second, reason="x")
    replace_bot(home.store, "t", "bob@1", replace(other, version="3"), reason="x")
    replace_bot(home.store, "t", "bob@2", replace(other, version="1"), reason="x")
    with pytest.raises(UsageError, match=r"bot 'bob@1': .*; first undo the correction that gave it these$"):
        undo_correction(home.store, "t", 1, reason="x")
    undo_correction(home.store, "t", 2, reason="x")
    undo_correction(home.store, "t", 1, reason="x")
    assert [bot.label for bot in home.store.tournament("t").definition.entrants][1::3] == ["bob@1", "bob@2"]


NAMES = ("ann", "bob", "cid", "eve")
ABSENCES = ("withdraw", "annul", "keep")


class Model:
    def __init__(self, home, definition, late):
        self.home, self.definition, self.late = home, definition, late
        self.counting = {}  # the text of each record that counts
        self.log = {}  # of each correction that stands, by number: kind, entrant, and the texts it has set aside
        self.entry_of = {}  # the correction by which a match has come into the schedule
        self.displaced = {}  # of each undoing, by number: the texts that it has set aside

    def lines(self):
        return list(self.home.store.schedule(self.home.store.tournament("t")))

    def to_be_played(self):
        absent = {entrant for kind, entrant, _ in self.log.values() if kind in ABSENCES}
        standing = {None, *self.log}
        return [
            line.match
            for line in self.lines()
            if line.match not in self.counting and absent.isdisjoint(line.seats)
            if self.entry_of.get(line.match) in standing
        ]

    def run(self, most=100):
        expected = {*self.counting, *self.to_be_played()[:most]}
        play(self.home, self.definition, max_matches=most)
        found = records(self.home)
        assert set(found) == expected
        self.counting = found

    def correct(self, kind, entrant, numbers):
        store, name = self.home.store, entrant is not None and NAMES[entrant]
        aside = []
        if kind == "withdraw":
            made = withdraw(store, "t", name, reason="x")
        elif kind == "enter":
            known = {line.match for line in self.lines()}
            made = enter_late(store, "t", self.late, reason="x")
            entrant = 3
            self.entry_of |= {line.match: made.number for line in self.lines() if line.match not in known}
        elif kind == "replace":
            files = self.home.directory.parent / f"mended {len(store.tournament('t').corrections)}"
            made = replace_bot(store, "t", name, *write_bots(files, [name], "mended"), reason="x")
            aside = [line.match for line in self.lines() if entrant in line.seats]
        elif kind == "void":
            aside = sorted(self.counting)[numbers[0] % (len(self.counting) or 1) :][: numbers[1]]
            made = void_matches(store, "t", aside, reason="x")
            entrant = None
        else:
            made = disqualify(store, "t", name, reason="x", matches=DisqualifiedMatches(kind))
            aside = [line.match for line in self.lines() if kind == "annul" and entrant in line.seats]
        self.log[made.number] = (kind, entrant, {m: self.counting.pop(m) for m in aside if m in self.counting})

    def undo(self, number):
        undoing = undo_correction(self.home.store, "t", number, reason="x").number
        before, (kind, entrant, aside) = self.counting, self.log.pop(number)
        if kind == "replace":
            own = {line.match for line in self.lines() if entrant in line.seats}
            self.counting = {m: text for m, text in self.counting.items() if m not in own}
        self.counting = self.counting | aside
        if kind == "enter":
            self.counting = {m: text for m, text in self.counting.items() if self.entry_of.get(m) != number}
        self.displaced[undoing] = {m: text for m, text in before.items() if self.counting.get(m) != text}

    def check(self):
        store = self.home.store
        stored = store.tournament("t")
        to_be_played = self.to_be_played()
        assert records(self.home) == self.counting
        assert [line.match for line in store.unplayed(stored)] == to_be_played
        assert (stored.recorded, stored.scheduled) == (len(self.counting), len(self.counting) + len(to_be_played))
        assert (stored.finished_at is None) == bool(to_be_played)
        assert verify(self.home, stored).problems == []
        out = {f"{NAMES[entrant]}@1" for kind, entrant, _ in self.log.values() if kind in ("annul", "keep")}
        assert tabled(self.home) == {k: v for k, v in reckoned(self.counting.values()).items() if k not in out}
        assert out.isdisjoint(line.label for line in standings_of(store, "t").lines)
        aside = self.displaced | {number: aside for number, (_, _, aside) in self.log.items()}
        found = set(map(tuple, store.corrections.set_aside(stored)))
        assert found == {(match, number, text) for number, texts in aside.items() for match, text in texts.items()}


@contextmanager
def begun(directory):
    *bots, late = write_bots(directory / "bots", NAMES)
    with ArenaHome(directory / "home") as home:
        model = Model(home, contest(tuple(bots), encounters=2), late)
        play(home, model.definition, max_matches=0)
        yield model


AGAIN = "another entrant has this name and version"
LATER = "correction 1 of tournament 't': correction 2"
STORIES = {
    "who withdraws is not paired any more": "run 6 / withdraw bob / run",
    "the last one to play withdraws": "run 11 / withdraw cid / run",
    "annulled": "run / annul bob / undo 1",
    "kept": "run / keep bob / undo 1",
    "replaced": "run / replace bob / run",
    "replaced for nothing": "run / replace bob / undo 1",
    "replaced for a while": "run / replace bob / run / undo 1",
    "void for nothing": "run / void 0 2 / undo 1",
    "void for a while": "run / void 0 2 / run / undo 1",
    "a void match is played after an absence": "run 8 / withdraw ann / void 0 1 / undo 1 / run",
    "matches of a replaced bot are played after an absence": "run 8 / withdraw ann / replace bob / undo 1 / run",
    "a late entrant meets who comes back": "run 8 / withdraw ann / enter eve / undo 1 / run",
    "out and in": f"run / enter eve / run 3 / undo 1 / run / enter eve / enter eve ! 'eve@1': {AGAIN} / run",
    "who enters again comes back to its last entry": "run / enter eve / undo 1 / enter eve / run 2 / withdraw eve"
    " / run / undo 4 / run",
    "void later": f"run / enter eve / run / void 12 1 / undo 1 ! {LATER} (voided match) came later / undo 2 / undo 1",
    "annulled later": f"run / enter eve / run / annul ann / undo 1 ! {LATER} (disqualification) came later / undo 2"
    " / undo 1",
    "replaced later": f"run / void 0 1 / replace bob / undo 1 ! {LATER} (replacement) came later / run / keep ann"
    " / undo 2 / undo 1",
    "nothing twice": "run 6 / withdraw bob / withdraw bob ! bob@1 has withdrawn from tournament 't' (correction 1);"
    " nothing was / annul bob / annul bob ! bob@1 is disqualified in tournament 't' already (correction 2) / undo 2"
    " / undo 2 ! correction 2 of tournament 't' is undone already / undo 77 ! expected one that can be undone: 1",
}
"""Of three bots, which play 12 matches: what is done, and how it is refused."""


@pytest.mark.slow(sample=("annulled", "out and in"))
@pytest.mark.parametrize("story", STORIES)
def test_a_story_ends_as_the_documentation_says(tmp_path, no_check, story):
    with begun(tmp_path) as model:
        for step in STORIES[story].split(" / "):
            step, _, refusal = step.partition(" ! ")
            kind, *words = step.split()
            with pytest.raises(UsageError, match=re.escape(refusal)) if refusal else nullcontext():
                if kind == "run":
                    model.run(*map(int, words))
                elif kind == "undo":
                    model.undo(int(words[0]))
                else:
                    entrant = NAMES.index(words[0]) if kind != "void" else None
                    model.correct(kind, entrant, None if entrant is not None else [*map(int, words)])
            if kind == "undo" and not refusal:
                model.check()
        model.check()


STEPS = st.tuples(
    st.sampled_from([*ABSENCES, "void", "void", "enter", "replace", "undo", "undo", "undo", "run"]),
    st.integers(0, 3),
    st.tuples(st.integers(0, 30), st.integers(1, 3)),
)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(0, 12), steps=st.lists(STEPS, min_size=2, max_size=9))
def test_what_counts_is_what_the_documentation_says(tmp_path_factory, no_check, first, steps):
    with begun(tmp_path_factory.mktemp("story")) as model:
        model.run(first)
        for kind, entrant, numbers in steps:
            try:
                if kind == "run":
                    model.run(numbers[0])
                elif kind != "undo":
                    model.correct(kind, entrant, numbers)
                elif model.log:
                    model.undo(sorted(model.log)[-1 - numbers[0] % len(model.log)])
            except UsageError:
                pass  # nothing has changed, as is checked now
            model.check()
        while model.log:
            model.undo(max(model.log))  # which is never refused
            model.check()
        model.run()
        assert len(model.counting) == 12
