"""Stories of a contest, told here or random, compared with a model that is written from the documentation alone."""

import re
from contextlib import contextmanager, nullcontext

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
from tests.tournament.corrections.contest import contest, play, reckoned, records, tabled, write_bots

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
