"""The turning point of a match against plain recursion, and its sentence in the cases that there are."""

from dataclasses import replace

import pytest

from arena.base.enums import Termination
from arena.lab.matches.annotating import Annotator
from arena.lab.matches.annotation import Mark
from arena.lab.matches.turning_point import TurningPoint, turning_point, turning_sentence
from arena.lab.solving.limits import Limits
from arena.lab.solving.worth import OUTCOME_UNIT, PARTS, Known, worth_between
from arena.match.replay import states_of
from tests.lab.games import SMALL, plain_value
from tests.lab.played import at_random, best, record_of

GAMES = [SMALL[name] for name in ("differences", "plusminus", "plaid")]


def annotation_of(record):
    return Annotator(record.game, dict(record.options), Limits()).annotate(record).annotation


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("name", "options"), GAMES, ids=str)
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
    found = turning_point(record, annotation_of(record))
    assert (found.ply - 1 if found else None) == expected
    if found is not None:
        (_, game, state), choose = values[expected], max if found.seat == 0 else min
        legal = list(game.legal_actions(state))
        worths = [plain_value(game, game.apply(state, action)) for action in legal]
        assert [worths[place] for place in found.best] == [choose(worths)] * worths.count(choose(worths))


def test_a_match_without_a_mistake_or_that_the_rules_did_not_end_has_none():
    record = record_of("differences", {"size": 4}, best)
    assert turning_point(record, annotation_of(record)) is None
    lost = record_of("differences", {"size": 4}, at_random(2))
    annotation = annotation_of(lost)
    assert turning_point(lost, annotation) is not None
    for termination in (Termination.FORFEIT, Termination.ADJUDICATION):
        assert turning_point(replace(lost, termination=termination), annotation) is None


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
