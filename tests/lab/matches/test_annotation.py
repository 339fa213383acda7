import json
from dataclasses import replace

import pytest

from arena.base.enums import Termination
from arena.base.errors import StoreError, UsageError
from arena.games import make_game
from arena.lab.matches.accuracy import (
    PlayedSeat,
    SeatAccuracy,
    accuracy_of,
    accuracy_of_bots,
    kept_interval,
    kept_share,
    seats_from_text,
    seats_to_json,
)
from arena.lab.matches.annotating import Annotator
from arena.lab.matches.annotation import (
    AnnotatedAction,
    Annotation,
    Mark,
    TurningPoint,
    mark_of,
    turning_point,
    turning_sentence,
)
from arena.lab.oracle import Oracle
from arena.lab.solving.limits import Limits
from arena.lab.solving.worth import HIGHEST, LOWEST, OUTCOME_UNIT, PARTS, Known, Outcome, worth_between
from arena.match.replay import states_of
from tests.lab.games import SMALL, plain_value
from tests.lab.played import at_random, best, record_of

OUTCOMES = {Outcome.WIN: 1, Outcome.DRAW: 0, Outcome.LOSS: -1}


def annotated(record):
    return Annotator(record.game, dict(record.options), Limits()).annotate(record)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "options"), SMALL.values(), ids=SMALL)
def test_a_match_is_annotated_as_plain_recursion_says(name, options, seed):
    record = record_of(name, options, at_random(seed), opening_plies=1)
    found = annotated(record)
    states = list(states_of(record))
    game, truth = states[0][0], [plain_value(game, state) for game, state in states]
    assert [(OUTCOMES[worth.outcome], worth.margin) for worth in found.annotation.worths] == truth
    kept, marks = ([], []), ([], [])
    for ply, (seat, _) in enumerate(record.actions):
        sign = 1 if seat == 0 else -1
        after = [plain_value(game, game.apply(states[ply][1], one)) for one in game.legal_actions(states[ply][1])]
        choices = found.annotation.actions[ply].choices
        assert [(OUTCOMES[worth.outcome], worth.margin) for worth in choices] == after
        assert after[found.annotation.actions[ply].chosen] == truth[ply + 1]
        if ply == 0:
            assert found.annotation.mark(ply) is Mark.NONE  # nobody has chosen it
            continue
        lost = [sign * (before - later) for before, later in zip(truth[ply], truth[ply + 1], strict=True)]
        expected = Mark.BLUNDER if lost[0] > 0 else Mark.MISTAKE if lost[1] > 0 else Mark.NONE
        assert found.annotation.mark(ply) is expected
        assert found.annotation.choice_marks(ply)[found.annotation.actions[ply].chosen] is expected
        marks[seat].append(expected)
        margins = [sign * margin for _, margin in after]
        if min(margins) < max(margins):
            share = (sign * truth[ply + 1][1] - min(margins)) / (max(margins) - min(margins))
            kept[seat].append(share)
    for seat, accuracy in enumerate(accuracy_of(found)):
        assert accuracy.actions == len(marks[seat])
        assert (accuracy.mistakes, accuracy.blunders) == (marks[seat].count("?"), marks[seat].count("??"))
        assert (accuracy.decisions, accuracy.kept) == (len(kept[seat]), pytest.approx(sum(kept[seat])))
        levels = [(1 + (outcome if seat == 0 else -outcome)) / 2 for outcome, _ in truth[1:]]
        assert (accuracy.earned, accuracy.earned + accuracy.lucky) == (min(levels), levels[-1])


def test_a_match_that_was_not_played_to_its_end_has_marks_and_no_points():
    record = record_of("differences", {"size": 4}, at_random(1), termination=Termination.FORFEIT)
    assert all(seat.earned is seat.lucky is None for seat in accuracy_of(annotated(record)))


@pytest.mark.parametrize(("name", "options"), SMALL.values(), ids=SMALL)
def test_an_annotation_is_read_as_it_was_written(name, options):
    found = annotated(record_of(name, options, at_random(5), opening_plies=1))
    again = Annotation.from_text(json.dumps(found.annotation.to_json()))
    assert again == found.annotation
    assert [type(worth.margin) for worth in again.worths] == [type(worth.margin) for worth in found.annotation.worths]
    seats = accuracy_of(found)
    assert seats_from_text(json.dumps(seats_to_json(seats))) == seats


WORTH = '[0,"table",0,0,"draw","draw"]'
GOOD = {"opening_plies": 0, "worths": [json.loads(WORTH)], "line": [0, 0], "actions": [[0, 0, [0]]]}


MALFORMED = {
    "opening_plies": [2, -1, True],
    "worths": [
        [[0, "table", 0, 0, "draw"]],
        [[1, "table", 0, 0, "draw", "draw"]],
        [[0, "guessed", 0, 0, "draw", "draw"]],
        [[None, "table", 0, 1, "win", "draw"]],
        [[0, "table", 0, 0, "draw", "win"]],
        [[None, "table", 2, 1, "draw", "win"]],
        [["0", "table", "0", "0", "draw", "draw"]],
        [[2**65, "table", 2**65, 2**65, "win", "win"]],
        [[None, "table", float("nan"), None, "draw", "win"]],
        [[None, "table", None, None, ["draw"], "win"]],
    ],
    "line": [[0], [0, 1], [0, -1]],
    "actions": [[[2, 0, [0]]], [[0, 1, [0]]], [[0, 0, [1]]], {"0": 1}],
    "unknown": [1],
}


@pytest.mark.parametrize("changes", [{key: one} for key, values in MALFORMED.items() for one in values], ids=str)
def test_a_malformed_annotation_is_refused_in_a_sentence(changes):
    assert Annotation.from_text(json.dumps(GOOD))
    with pytest.raises(StoreError, match=r"^an annotation is malformed: [a-z_ ]+$"):
        Annotation.from_text(json.dumps({**GOOD, **changes}))


@pytest.mark.parametrize("text", ["", "[", "[]", "null", "[" * 100_000, '{"line":[]}'])
def test_what_is_no_annotation_is_refused(text):
    with pytest.raises(StoreError, match="an annotation is"):
        Annotation.from_text(text)


@pytest.mark.parametrize(
    "changes",
    [{"kept": 3.0}, {"decisions": 5}, {"mistakes": 2, "blunders": 3}, {"earned": 1.0}, {"earned": 0.3, "lucky": 0.7}],
    ids=str,
)
def test_impossible_accuracy_is_refused(changes):
    seat = {"actions": 4, "decisions": 2, "kept": 1.5, "mistakes": 1, "blunders": 1, "earned": None, "lucky": None}
    assert seats_from_text(json.dumps([seat, seat]))
    with pytest.raises(StoreError, match="the accuracy of a match is malformed"):
        seats_from_text(json.dumps([seat, {**seat, **changes}]))


def between(low, high):
    return worth_between(low, high, Known.SEARCH)


WIN_BY_2, DRAW, LOSS_BY_1 = OUTCOME_UNIT + 2 * PARTS, 0, -OUTCOME_UNIT - PARTS


@pytest.mark.parametrize(
    ("before", "after", "marks"),
    [
        (between(WIN_BY_2, WIN_BY_2), between(DRAW, DRAW), ("??", "")),
        (between(WIN_BY_2, WIN_BY_2), between(WIN_BY_2 - PARTS, WIN_BY_2 - PARTS), ("?", "")),
        (between(WIN_BY_2, HIGHEST), between(LOWEST, DRAW), ("??", "")),
        (between(DRAW, HIGHEST), between(LOSS_BY_1, LOSS_BY_1), ("??", "")),  # at least a draw before: for certain
        (between(DRAW, WIN_BY_2), between(LOWEST, WIN_BY_2), ("", "")),
        (between(LOWEST, HIGHEST), between(LOSS_BY_1, LOSS_BY_1), ("", "")),  # it may have been lost before
        (between(DRAW, DRAW), between(LOSS_BY_1, DRAW), ("", "")),
        (between(LOSS_BY_1 - PARTS, LOSS_BY_1), between(DRAW, HIGHEST), ("", "??")),
        # a margin that is 0 in all shown places may be won or lost
        (between(1 - OUTCOME_UNIT, HIGHEST), between(LOSS_BY_1, LOSS_BY_1), ("?", "")),
    ],
)
def test_bounds_make_a_mark_only_where_they_prove_it(before, after, marks):
    assert (mark_of(0, before, after), mark_of(1, before, after)) == marks


def test_a_large_sheet_has_bounds_and_marks_only_where_they_are_proved():
    """On the suggested sheet of plaid nothing is solved before its last lines; seat 0 is proved not to lose."""
    record = record_of("plaid", {"width": 60, "height": 60}, at_random(2))
    found = Annotator("plaid", dict(record.options), Limits(), match_seconds=0.02).annotate(record)
    annotation = found.annotation
    assert annotation.worths[-1].is_exact
    assert not annotation.worths[0].is_exact
    assert annotation.worths[0].least is Outcome.DRAW
    for index in range(len(record.actions)):
        if annotation.mark(index):
            before, after = annotation.worths[index], annotation.worths[index + 1]
            assert before.is_exact or before.least is not Outcome.LOSS or before.most is not Outcome.WIN
            assert after.is_exact or after.low is not None or after.high is not None or after.outcome is not None
        assert all(worth.is_exact for worth in annotation.actions[index].choices)
    assert sum(seat.decisions for seat in accuracy_of(found)) < len(record.actions)


def test_a_table_that_is_prepared_answers_however_little_time_a_question_has():
    rules = make_game("multiplication", size=7)
    start = rules.initial_state()
    prepared = Oracle(rules, "multiplication", within_seconds=1e-9)
    prepared.prepare(within_seconds=600)
    assert prepared.worth(start).margin == 12  # as docs/lab.md says
    later = rules.apply(start, (2, 2))
    for_one = Oracle(rules, "multiplication", within_seconds=1e-9)
    for_one.prepare(600, later)
    assert for_one.worth(later) == prepared.worth(later)
    assert Oracle(make_game("plaid"), "plaid").prepare(within_seconds=600) is None  # too large for a table: at once
    with pytest.raises(UsageError, match="players = 3: only matches of two can be annotated"):
        Annotator("coprimality", {"players": 3}, Limits())


def test_the_share_that_is_kept_has_the_interval_of_the_textbook_and_orders_bots():
    draw = between(DRAW, DRAW)
    assert kept_share(AnnotatedAction(seat=0, chosen=0, choices=(draw, draw))) is None
    assert kept_share(AnnotatedAction(seat=0, chosen=0, choices=())) is None
    assert kept_share(AnnotatedAction(seat=1, chosen=0, choices=(draw, between(LOSS_BY_1, LOSS_BY_1)))) == 0
    # Three encounters; r = 4 / 8, residuals ½, -½, 0; t(2) at 97.5 % is 4.302653: ± 4.302653 · √(3/2 · ½) / 8.
    share = kept_interval([(3, 2.0), (3, 1.0), (2, 1.0)])
    half = 4.302652729911275 * (3 / 2 * 0.5) ** 0.5 / 8
    assert (share.value, share.low, share.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half))
    assert kept_interval([]) is None
    assert kept_interval([(0, 0.0)]) is None
    seats = [
        PlayedSeat(encounter=(1, 1), bot="b@1", accuracy=SeatAccuracy(actions=2, decisions=2, kept=2.0)),
        PlayedSeat(encounter=(1, 2), bot="b@1", accuracy=SeatAccuracy(actions=2, decisions=1, kept=1.0)),
        PlayedSeat(encounter=(1, 1), bot="a@1", accuracy=SeatAccuracy(actions=2, decisions=2, kept=1.0, blunders=1)),
        PlayedSeat(encounter=(1, 1), bot="c@1", accuracy=SeatAccuracy(actions=2, earned=0.5, lucky=0.5)),
    ]
    first, second, third = accuracy_of_bots(seats)
    assert (first.bot, first.encounters, first.kept.value, first.kept.low, first.kept.high) == ("b@1", 2, 1, 1, 1)
    assert (second.bot, second.kept.value, second.blunders) == ("a@1", 0.5, 1)
    assert (third.bot, third.kept, third.earned, third.lucky, third.points_known) == ("c@1", None, 0.5, 0.5, 1)


# the turning point of a match against plain recursion, and its sentence in the cases that there are


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "options"), [SMALL[name] for name in ("differences", "plusminus", "plaid")], ids=str)
def test_it_is_the_last_action_that_changed_the_outcome_or_else_lost_most(name, options, seed):
    record = record_of(name, options, at_random(seed), opening_plies=1)
    values = [(plain_value(game, state), game, state) for game, state in states_of(record)]
    losses = []
    for ply, (seat, _) in enumerate(record.actions):
        sign = 1 if seat == 0 else -1
        (outcome, margin), (outcome_after, margin_after) = values[ply][0], values[ply + 1][0]
        if ply >= record.opening_plies and sign * (margin - margin_after) > 0:
            losses.append((outcome != outcome_after, sign * (margin - margin_after), ply))
    changing = [ply for changes, _, ply in losses if changes]
    most = max((lost for _, lost, _ in losses), default=0)
    expected = changing[-1] if changing else next((ply for _, lost, ply in losses if lost == most), None)
    found = turning_point(record, annotated(record).annotation)
    assert (found.ply - 1 if found else None) == expected
    if found is not None:
        (_, game, state), choose = values[expected], max if found.seat == 0 else min
        legal = list(game.legal_actions(state))
        worths = [plain_value(game, game.apply(state, action)) for action in legal]
        assert [worths[place] for place in found.best] == [choose(worths)] * worths.count(choose(worths))


def test_a_match_without_a_mistake_has_no_turning_point_and_without_another_outcome_the_one_that_lost_most():
    record = record_of("differences", {"size": 4}, best)
    assert turning_point(record, annotated(record).annotation) is None
    lost = record_of("differences", {"size": 4}, at_random(2))
    annotation = annotated(lost).annotation
    assert turning_point(lost, annotation) is not None
    for termination in (Termination.FORFEIT, Termination.ADJUDICATION):
        assert turning_point(replace(lost, termination=termination), annotation) is None
    # Seat 0 wins by 9, 7, 4 and 3: it loses 2 at ply 1, 3 at ply 3, and 1 at ply 5.
    worths = tuple(worth(1, margin) for margin in (9, 7, 7, 4, 4, 3))
    actions = tuple(AnnotatedAction(seat=ply % 2, chosen=0) for ply in range(5))
    annotation = Annotation(opening_plies=0, worths=worths, actions=actions)
    assert turning_point(record_of("differences", {"size": 4}, best), annotation).ply == 3


def worth(sign, margin, high=None):
    low = sign * OUTCOME_UNIT + margin * PARTS
    return worth_between(low, low if high is None else sign * OUTCOME_UNIT + high * PARTS, Known.TABLE)


SENTENCES = {
    "Ply 4, greedy: f2?? gave away a draw; e5 held it.": (Mark.BLUNDER, worth(0, 0), worth(-1, -1), ["e5"]),
    "Ply 4, greedy: f2?? gave away a win; e5 and 2 more held it (+1).": (
        *(Mark.BLUNDER, worth(1, 1), worth(0, 0)),
        ["e5", "e6", "e7"],
    ),
    "Ply 4, greedy: f2?? turned a win into a loss; e5 held it (+3).": (
        *(Mark.BLUNDER, worth(1, 3), worth(-1, -3)),
        ["e5"],
    ),
    "Ply 4, greedy: f2? lost 2 of margin; e5 held it (-1).": (Mark.MISTAKE, worth(-1, -1), worth(-1, -3), ["e5"]),
    "Ply 4, greedy: f2? lost at least 1 of margin.": (Mark.MISTAKE, worth(1, 3, 5), worth(1, 1, 2), []),
}


@pytest.mark.parametrize(("sentence", "case"), SENTENCES.items(), ids=list(SENTENCES))
def test_its_sentence(sentence, case):
    mark, before, after, texts = case
    point = TurningPoint(ply=4, seat=0, mark=mark, best=(), before=before, after=after)
    assert turning_sentence(point, "greedy", "f2", texts) == sentence
