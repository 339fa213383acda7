"""Grades of a contest: a line for each person, ranked among the bots of authors."""

from arena.people.contest import ContestEntry
from arena.site.models.standings import StandingLine
from arena.site.models.tournament import TournamentPage
from arena.web.people.contest_results import grade_lines


def page(name, *ranked):
    """Return a tournament with bots and their ranks."""
    lines = tuple(
        StandingLine.model_construct(label=label, rank=rank, mu=25.0, margin_95=1.0, points=1.0, matches=4, faults={})
        for label, rank in ranked
    )
    return TournamentPage.model_construct(name=name, standings=lines, ranking=None)


def entry(author, bot, number):
    return ContestEntry(person=number, author=author, bot=bot, submission=number, handed_in_at="2027-01-16T00:00:00")


def places(entries, *pages):
    return [(line.person, line.bot, line.rank) for line in grade_lines(entries, pages)]


def test_house_bots_take_no_places():
    entries = [entry("bob", "bobbot@1", 1), entry("ann", "annbot@1", 2), entry("cy", "cybot@1", 3)]
    final = page("cup", ("greedy@1", 1), ("annbot@1", 2), ("mcts@1", 3), ("bobbot@1", 4), ("cybot@1", 4))
    assert places(entries, final) == [("ann", "annbot@1", 1), ("bob", "bobbot@1", 2), ("cy", "cybot@1", 2)]


def test_who_missed_the_final_comes_behind_it_and_who_did_not_play_last():
    entries = [entry(name, f"{name}bot@1", k) for k, name in enumerate(("ann", "bob", "cy", "dan"), 1)]
    final = page("cup", ("greedy@1", 1), ("bobbot@1", 2))
    first = page("cup-qualification", ("annbot@1", 1), ("bobbot@1", 2), ("greedy@1", 3), ("cybot@1", 4))
    assert places(entries, final, first) == [
        ("bob", "bobbot@1", 1),
        ("ann", "annbot@1", 2),
        ("cy", "cybot@1", 3),
        ("dan", "danbot@1", None),
    ]
