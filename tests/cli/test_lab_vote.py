"""Votes between two sets of options: how they are counted, kept and asked for."""

import json
from math import comb, exp
from pathlib import Path

import pytest

from arena.cli import lab_vote
from arena.errors import StoreError, UsageError
from arena.home import ArenaHome
from arena.lab.votes import Tally, Vote, add_vote, needed_votes, read_votes, tally
from tests.cli.calls import calling, refusal
from tests.report.tournaments import play

DISTINCT, ONCE = "differences scoring=distinct size=5", "differences scoring=once size=5"


def vote(preferred=DISTINCT, other=ONCE, voter="ada"):
    return Vote(voter=voter, preferred=preferred, other=other, matches=("a/1", "b/2"), at="2026-01-01T00:00:00+00:00")


def at_least(count, votes, share):
    return sum(comb(votes, k) * share**k * (1 - share) ** (votes - k) for k in range(count, votes + 1))


def test_194_votes_notice_a_preference_of_60_to_40():
    """The figure of the handbooks, by the normal approximation; the exact test is within two percent of it."""
    assert needed_votes() == 194
    critical = next(k for k in range(97, 195) if 2 * at_least(k, 194, 0.5) <= 0.055)
    assert 0.78 < at_least(critical, 194, 0.6) < 0.84
    assert needed_votes(0.55) == 783


def test_the_interval_is_that_of_wilson():
    """48 of 80: R's prop.test(48, 80, correct = FALSE) gives 0.4904 to 0.7004."""
    assert Tally(first=48, second=32, voters=1).interval == pytest.approx((0.4904, 0.7004), abs=1e-4)
    assert Tally(first=0, second=0, voters=0).interval == (0, 1)
    assert Tally(first=0, second=5, voters=1).interval[0] == 0


def test_the_strength_is_the_one_that_makes_the_votes_most_likely():
    strength, low, high = Tally(first=30, second=10, voters=3).strength
    assert 1 / (1 + exp(-strength)) == pytest.approx(0.75)
    assert low < strength < high
    assert Tally(first=3, second=0, voters=1).strength is None


@pytest.mark.parametrize(
    ("first", "second", "missing", "is_decided"),
    [(0, 0, 194, False), (60, 40, 94, False), (116, 78, 0, True), (78, 116, 0, True), (100, 94, 0, False)],
)
def test_it_is_decided_when_there_are_enough_votes_and_they_differ(first, second, missing, is_decided):
    found = Tally(first=first, second=second, voters=5)
    assert (found.missing, found.is_decided) == (missing, is_decided)


def test_votes_are_kept_in_any_order_of_the_two(tmp_path):
    for one in (vote(), vote(voter="ben"), vote(ONCE, DISTINCT)):
        add_vote(tmp_path, one)
    votes = read_votes(tmp_path, ONCE, DISTINCT)
    assert votes == [vote(), vote(voter="ben"), vote(ONCE, DISTINCT)]
    assert tally(votes, DISTINCT, ONCE) == Tally(first=2, second=1, voters=2)
    assert tally(votes, ONCE, DISTINCT) == Tally(first=1, second=2, voters=2)
    assert read_votes(tmp_path, DISTINCT, "plaid") == []


@pytest.fixture
def path(tmp_path):
    """A file with one vote."""
    add_vote(tmp_path, vote())
    (path,) = (tmp_path / "votes").iterdir()
    return path


@pytest.mark.parametrize("line", ["x", "[]", '{"voter": 3}', "[" * 100_000, "\xff"])
def test_a_malformed_file_is_named_with_its_line(path, tmp_path, line):
    path.write_text(path.read_text() + line, encoding="latin-1")
    with pytest.raises(StoreError, match=r"votes/.*\.jsonl: line 2"):
        read_votes(tmp_path, DISTINCT, ONCE)


def test_a_vote_between_others_is_refused(path, tmp_path):
    path.write_text(path.read_text().replace("once", "none"))
    with pytest.raises(StoreError, match="between others"):
        read_votes(tmp_path, DISTINCT, ONCE)


def test_a_link_is_not_followed(path, tmp_path):
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert read_votes(tmp_path, DISTINCT, ONCE) == []
    with pytest.raises(UsageError, match="can't be written"):
        add_vote(tmp_path, vote())


# the command


@pytest.fixture
def ballot(tmp_path, capsys, monkeypatch):
    """Return a function that answers ``arena lab vote`` and returns its exit code and what it prints."""
    with ArenaHome(tmp_path / "home") as home:
        for name, scoring in (("first", "distinct"), ("second", "once"), ("third", "once")):
            play(home, name, ["secret", "hidden"], [("differences", {"size": 5, "scoring": scoring})])
        play(home, "two", ["a", "b"], [("differences", {"size": 4}), ("plusminus", {"size": 4})])
    call = calling(tmp_path / "home", capsys)

    def answer(*arguments, answers=""):
        given = iter(answers.split())
        monkeypatch.setattr(lab_vote.click, "prompt", lambda *_, **__: next(given, "q"))
        return call("lab", "vote", *arguments)

    return answer


def votes_of(tmp_path: Path):
    return read_votes(tmp_path / "home", DISTINCT, ONCE)


def test_pairs_are_shown_without_names_and_answers_are_kept(ballot, tmp_path):
    code, out, err = ballot("first", "second", "--voter", "ada", answers="1 2 x s 1")
    assert (code, err) == (0, "")
    asked = out.partition("differences scoring")[0]
    assert asked.count("Match 1\n") == asked.count("Match 2\n") == 5
    assert not any(word in asked for word in ("secret", "hidden", "first", "second", "once", "distinct"))
    assert "Expected 1, 2, s or q." in out
    assert len(votes_of(tmp_path)) == 3
    assert "from 3 votes of 1 voter\n" in out
    assert "191 more votes of 194" in " ".join(out.split())
    assert max(map(len, out.splitlines()[:-1])) <= 80


def test_the_answer_is_for_the_match_that_was_shown_there(ballot, tmp_path, monkeypatch):
    for order, preferred in (((0, 1), DISTINCT), ((1, 0), ONCE)):

        class Order:
            def choice(self, matches):
                return matches[0]

            def sample(self, _numbers, _count, order=order):
                return list(order)

        monkeypatch.setattr(lab_vote.random, "SystemRandom", Order)
        ballot("first", "second", answers="1")
        assert votes_of(tmp_path)[-1].preferred == preferred
    assert votes_of(tmp_path)[-1].matches == ("second/1", "first/1")


def test_json_counts_and_asks_nothing(ballot):
    ballot("first", "second", answers="1 1")
    code, out, _ = ballot("first", "second", "--json", answers="1 1")
    found = json.loads(out)
    assert (code, sum(found["votes"]), found["needed"], found["missing"]) == (0, 2, 194, 192)
    assert (found["first"], found["second"], found["preferred"]) == (DISTINCT, ONCE, None)


REFUSED = [
    (["second", "third"], "both play differences scoring=once size=5; expected different options"),
    (["first", "two"], "tournament 'two': it plays 2 games; expected one"),
    (["first", "nobody"], "unknown tournament 'nobody'"),
    (["first", "second", "--voter", "a\nb"], "expected at most 64 visible characters"),
    (["first", "second", "--count", "1001"], "1001 is not in the range"),
]


@pytest.mark.parametrize(("arguments", "says"), REFUSED)
def test_what_cannot_be_voted_on_is_said_in_a_sentence(ballot, arguments, says):
    assert says in refusal(ballot, *arguments)
