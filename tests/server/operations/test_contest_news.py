import pytest

from arena.server.operations.contest_results import GradesPage, grade_rows
from arena.server.operations.contest_view import ContestNews
from arena.server.operations.contests_model import grade_lines
from arena.site.pages.standings_model import RankedBot, Ranking, StandingLine
from arena.site.pages.tournament_model import TournamentPage
from arena.store.people.contest import ContestEntry, ContestStage
from arena.store.people.directors import DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.values import Role, SubmissionState
from tests.community.contests.samples import DEADLINE, FREEZE, OPEN, OPENS, SEALED, contest_of
from tests.store.people.conftest import FakeClock


class News:
    def __init__(self, directory):
        self.now = FakeClock()
        self.now.seconds = OPENS - 3600
        self.results = directory / "results"
        self.people = PeopleStore(directory / "people.sqlite3", self.now)
        self.contests = self.people.contests
        self.news = ContestNews(self.people, lambda name: self.results / name)
        self.ada = self.people.accounts.add("ada", Role.AUTHOR, "test")

    def announce(self, **changed):
        self.contests.add("dora", contest_of(**changed))
        self.before = self.news.number()

    def contest(self):
        return self.contests.get("spring")

    def has_changed(self):
        before, self.before = self.before, self.news.number()
        return self.before != before

    def submit_bot(self):
        one = self.people.submissions.add(self.ada, "a" * 16, "b" * 64, 100, "bot.py", "a note")
        self.people.submissions.claim().finish(SubmissionState.ACCEPTED, "", "", "adabot@1")
        return ContestEntry(author="ada", person=1, bot="adabot@1", submission=one.number, submitted_at=one.created_at)

    def close(self):
        self.news.close()
        self.people.close()


@pytest.fixture
def told(tmp_path):
    news = News(tmp_path)
    yield news
    news.close()


def test_the_clock_alone_changes_it_when_a_phase_ends(told):
    told.announce()
    for seconds, is_news in (
        (OPENS - 1, False), (OPENS, True), (OPENS + 1, False), (FREEZE - 1, False), (FREEZE, True),
        (FREEZE + 1, False), (DEADLINE, False), (DEADLINE + 1, True), (DEADLINE + 2, False),
    ):  # fmt: skip
        told.now.seconds = seconds
        assert told.has_changed() is is_news, seconds


def test_whatever_everybody_sees_changes_it(told):
    told.announce(**SEALED)
    told.now.seconds = OPENS + 60
    assert told.has_changed()
    entry = told.submit_bot()
    told.has_changed()
    contests, autumn = told.contests, {"name": '"autumn"', "qualification": None, "deadline_at": "2027-06-01T00:00:00"}
    told.results.mkdir()
    for change, is_news in (
        (lambda: contests.set_entries(told.contest(), [entry]), True),
        (lambda: contests.change("dora", "spring", contest_of(**SEALED, title='"Another"'), "a slip"), True),
        (lambda: told.people.submissions.add(told.ada, "c" * 16, "d" * 64, 100, "other.py", ""), True),
        (lambda: setattr(told.now, "seconds", DEADLINE + 1), True),
        (lambda: contests.close_entries(told.contest()), True),
        (lambda: contests.set_stage(told.contest(), ContestStage.FINAL), True),
        (lambda: contests.set_stage(told.contest(), ContestStage.PLAYED), False),  # it tells how hidden matches went
        (lambda: contests.set_revealed(told.contest()), True),
        (lambda: setattr(told.now, "seconds", DEADLINE + 2) or (told.results / "spring").touch(), True),
        (lambda: contests.add("dora", contest_of(**autumn)), True),
        (lambda: contests.cancel("dora", "autumn", "nobody came"), True),
    ):
        change()
        assert told.has_changed() is is_news


def test_whether_results_of_a_tournament_are_frozen(told):
    told.announce(reveal_at="2027-01-25T12:00:00")
    since = "Frozen since Wed 20 Jan 2027, 19:59:59 (Europe/Berlin, UTC+01:00)"
    sentences = []
    for seconds in (FREEZE - 1, FREEZE, DEADLINE + 1e6):
        told.now.seconds = seconds
        told.news.number()
        sentences.append(told.news.frozen("spring-qualification"))
    assert {one.address for one in sentences} == {"/contests/spring"}
    assert [one.sentence for one in sentences] == [
        "",
        f"{since}; results return on Mon 25 Jan 2027, 12:00:00 (Europe/Berlin, UTC+01:00).",
        f"{since}; results return when everything is played.",
    ]
    assert told.news.frozen("another") is None
    told.contests.cancel("dora", "spring", "nobody came")
    told.news.number()
    assert told.news.frozen("spring").sentence == f"{since}; the contest was cancelled, and they stay hidden."
    told.contests.set_revealed(told.contest())
    told.news.number()
    assert (told.news.frozen("spring").sentence, told.news.frozen("spring").address) == ("", "/contests/spring")


def test_nothing_that_is_hidden_changes_it(told):
    told.announce(**SEALED)
    told.now.seconds = DEADLINE + 1
    told.contests.close_entries(told.contest())
    told.contests.set_stage(told.contest(), ContestStage.QUALIFICATION)
    assert told.has_changed()
    told.contests.set_stage(told.contest(), ContestStage.QUALIFICATION, "matches without a result are tried again")
    told.contests.set_stage(told.contest(), ContestStage.FINAL, "evebot@1 is disqualified")
    told.people.directors.report_state("spring", "contest", DirectorState.PLAYING, "nothing")
    told.people.requests.add(
        "spring", "disqualify", {"bot": "evebot@1"}, subject="evebot@1", reason="two accounts", by="dora"
    )
    told.contests.ask_to_reveal("dora", "spring", "in class", before_played=True)
    told.results.mkdir()
    (told.results / "spring").touch()  # of an earlier contest of the same name, in a home that was restored
    told.now.seconds += 10
    assert not told.has_changed()


def test_open_results_are_news_as_well_and_without_a_commit_nothing_is_read_again(told, monkeypatch):
    told.announce(**OPEN, qualification=None)
    told.now.seconds = DEADLINE
    told.has_changed()
    with monkeypatch.context() as patched:
        patched.setattr(told.people.contests, "rows", lambda: pytest.fail("it was read again"))
        told.now.seconds = DEADLINE + 1
        assert told.has_changed()
    told.contests.set_stage(told.contest(), ContestStage.PLAYED)
    assert told.has_changed()


def test_a_database_that_is_away_changes_nothing(told, tmp_path):
    told.announce()
    place = tmp_path / "people.sqlite3"
    place.rename(tmp_path / "away")
    assert not told.has_changed()
    (tmp_path / "away").rename(place)
    told.now.seconds = OPENS
    assert told.has_changed()


NUMBERS = {"mu": 25.0, "margin_95": 1.0, "points": 1.0, "matches": 4, "score_percent": 25.0, "faults": {}}


GUESTS = ("ANN", "eve", "fay")


def page(name, *ranked, disqualified=()):
    lines = tuple(
        StandingLine.model_construct(label=label, rank=rank, **NUMBERS, group=chr(96 + rank)) for label, rank in ranked
    )
    return TournamentPage.model_construct(name=name, standings=lines, ranking=None, disqualified=disqualified)


def entry(author, bot, number):
    return ContestEntry(person=number, author=author, bot=bot, submission=number, submitted_at="2027-01-16T00:00:00")


def places(entries, *pages):
    return [(line.person, line.bot, line.rank) for line in grade_lines(entries, pages)]


def test_house_bots_take_no_places_and_who_missed_the_final_comes_behind_it_before_who_did_not_play():
    entries = [entry("bob", "bobbot@1", 1), entry("ann", "annbot@1", 2), entry("cy", "cybot@1", 3)]
    final = page("cup", ("greedy@1", 1), ("annbot@1", 2), ("mcts@1", 3), ("bobbot@1", 4), ("cybot@1", 4))
    assert places(entries, final) == [("ann", "annbot@1", 1), ("bob", "bobbot@1", 2), ("cy", "cybot@1", 2)]
    entries = [entry(name, f"{name}bot@1", k) for k, name in enumerate(("ann", "bob", "cy", "dan"), 1)]
    final = page("cup", ("greedy@1", 1), ("bobbot@1", 2))
    first = page("cup-qualification", ("annbot@1", 1), ("bobbot@1", 2), ("greedy@1", 3), ("cybot@1", 4))
    found = places(entries, final, first)
    assert found == [("bob", "bobbot@1", 1), ("ann", "annbot@1", 2), ("cy", "cybot@1", 3), ("dan", "danbot@1", None)]


def test_who_is_disqualified_has_a_mark_and_no_rank_also_for_what_came_before():
    entries = [entry(name, f"{name}bot@1", k) for k, name in enumerate(("ann", "bob", "cy"), 1)]
    final = page("cup", ("annbot@1", 1), disqualified=("bobbot@1",))
    first = page("cup-qualification", ("bobbot@1", 1), ("annbot@1", 2), ("cybot@1", 3))
    found = [(line.person, line.rank, line.is_disqualified) for line in grade_lines(entries, [final, first])]
    assert found == [("ann", 1, False), ("cy", 2, False), ("bob", None, True)]
    header, *rows = GradesPage(lines=grade_rows(GUESTS, entries, {}, [final, first])).csv().splitlines()
    assert header.endswith(",disqualified")
    assert [row.rpartition(",")[2] for row in rows] == ["no", "no", "yes", "no", "no"]
    entries = [entry("ann", "one@1", 1), entry("ann", "two@1", 2)]  # another bot of the same person still counts
    [line] = grade_lines(entries, [page("cup", ("two@1", 3), disqualified=("one@1",))])
    assert (line.bot, line.rank, line.is_disqualified) == ("two@1", 1, False)


def test_everybody_who_was_invited_has_a_line_and_groups_share_a_grade():
    entries = [entry(name, f"{name}bot@1", k) for k, name in enumerate(("ann", "bob", "cy", "dan"), 1)]
    final = page("cup", ("greedy@1", 1), ("bobbot@1", 2), ("cybot@1", 2))
    first = page("cup-qualification", ("bobbot@1", 1), ("danbot@1", 2), ("cybot@1", 2))
    rows = grade_rows(GUESTS, entries, {"fay": "no program\nmore", "bob": "an earlier try"}, [final, first])
    assert [(row.person, row.rank, row.state, row.group, row.grade, row.reason) for row in rows] == [
        ("bob", 1, "played", 1, 10.0, ""),
        ("cy", 1, "played", 1, 10.0, ""),
        ("dan", 3, "played", 2, 0.0, ""),
        ("ann", None, "waiting", None, None, ""),
        ("fay", None, "rejected", None, 0.0, "no program"),
        ("eve", None, "absent", None, 0.0, ""),
    ]


def test_group_and_grade_are_those_of_the_bot_that_the_line_names():
    """The format puts one@1 first, and the ratings two@1."""
    entries = [entry("ann", "one@1", 1), entry("ann", "two@1", 2), entry("bob", "bob@1", 3)]
    placed = [
        RankedBot(place=k, bot=bot, label=f"{bot}@1", values=()) for k, bot in enumerate(("one", "bob", "two"), 1)
    ]
    final = page("cup", ("two@1", 1), ("bob@1", 2), ("one@1", 3))
    final = final.model_copy(update={"ranking": Ranking(columns=(), lines=tuple(placed))})
    found = [(row.person, row.bot, row.rank, row.group, row.grade) for row in grade_rows((), entries, {}, [final])]
    assert found == [("ann", "one@1", 1, 2, 0.0), ("bob", "bob@1", 2, 1, 10.0)]
