import json
from collections import defaultdict
from functools import partial
from itertools import pairwise

import pytest

from arena.base.definition import GameChoice
from arena.base.enums import Termination
from arena.base.results import points_of
from arena.games import make_game
from arena.lab.matches.annotating import Annotator, TournamentAnnotator
from arena.lab.matches.annotation import turning_point
from arena.lab.solving.limits import Limits
from arena.lab.solving.worth import SEATS, worth_text
from arena.match.replay import states_of
from arena.site.links import ServedLinks
from arena.site.matches.boards import board_svg
from arena.site.matches.match_model import ViewedMatch
from arena.site.matches.match_sentences import AnnotatedPositions
from arena.site.matches.viewed_match import viewed_match
from arena.site.publish.one_file import packed
from arena.site.render import asset_digests
from arena.store.results.rows import row_of
from tests.analysis.text.tournaments import play
from tests.lab.games import plain_value
from tests.lab.played import at_random, record_of
from tests.site.matches import FULL, record
from tests.site.parsed import Parsed, checked, csv_rows, html_of, model_of, text_in
from tests.site.test_match_page import by_id, page_of
from tests.store.results.samples import definition, line

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = {"size": 3}


@pytest.fixture(scope="module")
def annotated():
    annotator = Annotator("plusminus", OPTIONS, Limits())
    for seed in range(100):
        found = record_of("plusminus", OPTIONS, at_random(seed), opening_plies=1)
        annotation = annotator.annotate(found).annotation
        if found.ranks == (2, 1) and annotation.worths[1].margin == 0:
            return found, annotation
    raise AssertionError


@pytest.fixture
def shown(annotated):
    found, annotation = annotated
    return viewed_match(found, {"a@1": "Ann", "b@1": "Bob"}, annotation=annotation)


def test_a_position_says_what_it_is_worth_and_marks_stand_beside_their_actions(shown, annotated):
    found, annotation = annotated
    worths = [one.annotation.worth for one in shown.positions]
    assert worths == [worth_text(worth, ("Ann", "Bob")) for worth in annotation.worths]
    assert any("Bob wins" in one for one in worths)
    for ply, worth in enumerate(worths):
        assert text_in(by_id(page_of(shown, ply=ply), "worth")) == f"Worth: {worth}"
    both = viewed_match(found, {"a@1": "Ann", "b@1": "Ann"}, annotation=annotation)
    assert [one.annotation.worth for one in both.positions] == [worth_text(one, SEATS) for one in annotation.worths]
    _, annotation = annotated
    marks = [annotation.mark(index) for index in range(len(annotation.actions))]
    assert {"?", "??"} & set(marks)
    links = by_id(page_of(shown), "actions").iter("a")
    assert [next((one.text for one in link.iter("em")), "") for link in links] == marks


def test_each_action_is_a_segment_and_every_other_one_is_listed_with_what_it_is_worth(shown, annotated):
    _, annotation = annotated
    chart = by_id(page_of(shown, ply=2), "worths")
    drawn = [one for one in chart.iter(f"{SVG}line") if one.get("class").startswith("seat")]
    margins = [worth.margin for worth in annotation.worths]
    assert len(drawn) == len(margins) - 1
    for index, one in enumerate(drawn):
        up = float(one.get("y1")) - float(one.get("y2"))
        change = margins[index + 1] - margins[index]
        assert (up > 0) == (change > 0)
        assert (up < 0) == (change < 0)
        assert one.get("class").split()[0] == f"seat{annotation.actions[index].seat}"
        mark = {"mistake": "?", "blunder": "??"}.get(one.get("class").split()[-1], "")
        assert mark == annotation.mark(index)
    ends = [(one.get("x1"), one.get("x2")) for one in drawn]
    assert all(before[1] == after[0] for before, after in pairwise(ends))
    found, _ = annotated
    game = make_game("plusminus", **OPTIONS)
    state = game.initial_state()
    for ply, (seat, action) in enumerate(found.actions):
        groups = shown.positions[ply].annotation.choices
        worths = {one: group.worth for group in groups for one in group.actions}
        expected = {}
        for one in game.legal_actions(state):
            outcome, margin = plain_value(game, game.apply(state, one))
            who = {1: f"Ann wins, margin {margin:+d}", 0: "a draw", -1: f"Bob wins, margin {margin:+d}"}[outcome]
            expected[game.format_action(one)] = who
        assert worths == expected
        values = [plain_value(game, game.apply(state, game.parse_action(group.actions[0]))) for group in groups]
        assert values == sorted(values, reverse=seat == 0)
        assert [group.played for group in groups if group.played] == [game.format_action(action)]
        table = by_id(page_of(shown, ply=ply), "choices")
        assert table.get("hidden") is None
        assert all(one in text_in(table) for one in worths)
        state = game.apply(state, action)
    assert shown.positions[-1].annotation.choices == ()
    assert by_id(page_of(shown), "choices").get("hidden") is not None


def test_without_an_annotation_nothing_is_shown_and_of_very_many_actions_those_of_the_ply(annotated, monkeypatch):
    plain = viewed_match(record(FULL), {})
    assert {one.annotation for one in plain.positions} == {None}
    page = page_of(plain, ply=2)
    for name in ("worth", "worth-chart", "choices"):
        assert by_id(page, name).get("hidden") is not None
    assert 'id="worths"' not in page
    found, annotation = annotated
    worths = [one.model_dump() for one in viewed_match(found, {}, annotation=annotation).positions]
    for one in worths[::2]:
        one["annotation"]["margin"] = None
    gaps = ViewedMatch.model_validate({**viewed_match(found, {}).model_dump(), "positions": worths})
    assert 'id="worths"' not in page_of(gaps)
    found, annotation = annotated
    monkeypatch.setattr("arena.site.matches.match_sentences.MAX_CHOICES", 3)
    few = viewed_match(found, {}, 2, annotation=annotation)
    assert [one.ply for one in few.positions if one.annotation.choices] == [2]
    game = make_game("differences", size=4)
    positions = AnnotatedPositions(annotation, ("a", "b"), game, [game.initial_state()] * 9, range(9), 3)
    assert all(positions.at(ply).choices == () for ply in range(3, len(annotation.actions)))


def test_the_report_has_marks_and_worths_without_other_actions(annotated):
    found, annotation = annotated
    shown = viewed_match(found, {}, annotation=annotation.without_choices())
    assert packed([shown])
    stored = json.loads(shown.model_dump_json(exclude_defaults=True))
    assert all("choices" not in one["annotation"] for one in stored["positions"])
    assert [one["annotation"].get("mark", "") for one in stored["positions"][1:]] == [
        annotation.mark(index) for index in range(len(annotation.actions))
    ]


@pytest.fixture
def home(home):
    games = (GameChoice(game="plusminus", options=make_game("plusminus", **OPTIONS).options, players=2),)
    stored = home.store.create_tournament(definition(games=games), map(line, range(1, 5)))
    matches = [record_of("plusminus", OPTIONS, at_random(match), match=match) for match in range(1, 5)]
    home.store.record(stored, [row_of(match) for match in matches])
    return home


def test_a_tournament_page_says_how_accurately_bots_play_once_that_is_known(home):
    assert model_of(home, "tournament", tournament="t").accuracy == ()
    page = Parsed(html_of(home, "tournament", tournament="t"))
    assert not page.all("table", id="accuracy-table")
    list(TournamentAnnotator(home.store, home.store.tournament("t"), partial(Annotator, limits=Limits())).annotate())
    found = model_of(home, "tournament", tournament="t").accuracy
    assert {one.bot for one in found} == {"a@1", "b@1"}
    assert sum(one.earned + one.lucky for one in found) == 4
    page = checked(home, "tournament", tournament="t")
    assert page.all("table", id="accuracy-table")


def test_the_page_of_a_match_is_annotated_from_the_store(home):
    assert model_of(home, "match", tournament="t", match=2).shown.positions[0].annotation is None
    annotator = TournamentAnnotator(home.store, home.store.tournament("t"), partial(Annotator, limits=Limits()))
    list(annotator.annotate(match=2))
    assert model_of(home, "match", tournament="t", match=2).shown.positions[0].annotation.worth
    assert model_of(home, "match", tournament="t", match=1).shown.positions[0].annotation is None


def test_the_first_page_shows_the_last_match_that_a_mistake_decided_or_else_the_latest(home):
    tournament = home.store.tournament("t")
    assert model_of(home, "overview").featured == ("t", 4)
    list(TournamentAnnotator(home.store, tournament, partial(Annotator, limits=Limits())).annotate())
    decided = [number for number in range(1, 5) if model_of(home, "match", tournament="t", match=number).shown.turning]
    assert max(decided) < 4
    assert model_of(home, "overview").featured == ("t", max(decided))


def test_the_page_opens_on_the_action_that_decided_the_match_with_the_best_one_on_the_board(annotated, shown):
    found, annotation = annotated
    point = turning_point(found, annotation)
    assert (shown.turning.ply, shown.turning.seat, shown.turning.mark) == (point.ply, point.seat, point.mark)
    name = ("Ann", "Bob")[point.seat]
    assert shown.turning.sentence.startswith(f"Ply {point.ply}, {name}: {shown.positions[point.ply].text}{point.mark} ")
    assert f"; {shown.turning.best[0]}" in shown.turning.sentence
    played = {choice.played for choice in shown.positions[point.ply - 1].annotation.choices}
    assert not played & set(shown.turning.best)
    assert board_svg(shown, point.ply).count('class="best"') == 1
    marked = [one.ply for one in shown.positions if one.annotation.better is not None]
    assert {point.ply} <= set(marked) <= {ply for ply in range(1, len(shown.positions)) if annotation.mark(ply - 1)}


def test_where_people_play_they_try_it_before_the_mistake_or_else_in_the_position_that_is_shown(shown):
    ours = ServedLinks(asset_digests(), play="/play")
    for ply, tried in ((shown.turning.ply, shown.turning.ply - 1), (1, 1)):
        form = by_id(page_of(shown, ply, links=ours), "try")
        sent = {field.get("name"): field.get("value") for field in form.iter("input")}
        assert sent == {"tournament": "t", "match": str(shown.match), "ply": str(tried)}
        assert form.get("action") == "/play"
    assert "Try it here" not in page_of(shown)


GAME = [("plusminus", {"size": 3})]


def choices(record, label):
    """Yield each decision of a bot: the third of the match, what was kept, and the outcome that was given away."""
    values = [(plain_value(game, state), game, state) for game, state in states_of(record)]
    chosen = len(record.actions) - record.opening_plies
    for ply, (seat, _) in enumerate(record.actions):
        if ply < record.opening_plies or record.bots[seat] != label:
            continue
        (before, _), game, state = values[ply]
        sign = 1 if seat == 0 else -1
        worths = [sign * plain_value(game, game.apply(state, one))[1] for one in game.legal_actions(state)]
        own, phase = sign * values[ply + 1][0][1], 3 * (ply - record.opening_plies) // chosen
        kept = (own - min(worths)) / (max(worths) - min(worths)) if len(set(worths)) > 1 else None
        given = sign * before if values[ply + 1][0][0] != before else None
        yield ("opening", "middle", "end")[phase], kept, given


@pytest.mark.slow(sample=True)
def test_the_share_of_value_that_is_kept_is_counted_by_thirds_and_three_matches_are_worth_a_look(there):
    tournament = play(there, "t", ["a", "b"], GAME, failing=["b"], encounters=12, opening_plies=1)
    list(TournamentAnnotator(there.store, tournament, partial(Annotator, limits=Limits())).annotate())
    expected = defaultdict(list)
    for played in there.store.records(tournament):
        for phase, kept, given in choices(played, "a@1"):
            expected[phase].append((kept, given))
    page = model_of(there, "bot", bot="a")
    assert [one.phase for one in page.lost_value] == ["opening", "middle", "end"]
    for one in page.lost_value:
        seen = expected[one.phase]
        kept = [share for share, _ in seen if share is not None]
        assert (one.game, one.actions, one.decisions) == ("plusminus", len(seen), len(kept))
        mean = 100 * sum(kept) / len(kept) if kept else None
        assert one.kept_percent == (mean if mean is None else pytest.approx(mean))
        assert one.blunders == sum(given is not None for _, given in seen)
    text = checked(there, "bot", bot="a").text
    assert "Where it loses value" in text and "Worth a look: t " in text
    play(there, "elsewhere", ["c", "d"], GAME)
    assert "Where it loses value" not in checked(there, "bot", bot="c").text, "nothing is annotated"
    assert [row["phase"] for row in csv_rows(page.csv("lost_value"))] == ["opening", "middle", "end"]
    records = {record.match: record for record in there.store.records(tournament)}
    found = model_of(there, "bot", bot="b").worth_a_look
    assert len(found) == 3
    own_faults = ((one.match, fault) for one in records.values() for fault in one.faults)
    forfeits = {match for match, fault in own_faults if records[match].bots[fault.seat] == "b@1"}
    assert forfeits
    for one in found:
        record = records[one.match]
        assert (one.tournament, one.bot, one.rivals) == ("t", "b@1", ("a@1",))
        if one.match in forfeits:
            assert one.reason.startswith("forfeit: protocol at ply ")
        else:
            assert record.termination is Termination.NORMAL
            assert one.reason.endswith("gave away a win")
            assert points_of(record.ranks, record.bots.index("b@1")) < 1
    order = [one.match in forfeits for one in found]
    assert order == sorted(order)
