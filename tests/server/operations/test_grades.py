from arena.server.operations.contest_results import GradesPage, grade_rows
from arena.server.operations.contests_model import grade_lines
from arena.site.pages.standings_model import StandingLine
from arena.site.pages.tournament_model import TournamentPage
from arena.store.people.contest import ContestEntry

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
    lines = grade_lines(entries, [final, first])
    found = [(line.person, line.rank, line.is_disqualified) for line in lines]
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
        ("dan", 2, "played", 2, 0.0, ""),
        ("ann", None, "waiting", None, None, ""),
        ("fay", None, "rejected", None, 0.0, "no program"),
        ("eve", None, "absent", None, 0.0, ""),
    ]
