from collections import defaultdict
from functools import partial

import pytest

from arena.base.enums import Termination
from arena.base.results import points_of
from arena.lab.matches.annotating import Annotator, TournamentAnnotator
from arena.lab.solving.limits import Limits
from arena.match.replay import states_of
from tests.analysis.text.tournaments import play
from tests.lab.games import plain_value
from tests.site.parsed import checked, csv_rows, model_of

GAME = [("plusminus", {"size": 3})]


@pytest.fixture
def home(home):
    """A home with a tournament of two bots, of which one makes faults, all of it annotated."""
    tournament = play(home, "t", ["a", "b"], GAME, failing=["b"], encounters=12, opening_plies=1)
    list(TournamentAnnotator(home.store, tournament, partial(Annotator, limits=Limits())).annotate())
    return home


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
def test_the_share_of_value_that_is_kept_is_counted_by_thirds_and_three_matches_are_worth_a_look(home):
    expected = defaultdict(list)
    for record in home.store.records(home.store.tournament("t")):
        for phase, kept, given in choices(record, "a@1"):
            expected[phase].append((kept, given))
    page = model_of(home, "bot", bot="a")
    assert [one.phase for one in page.lost_value] == ["opening", "middle", "end"]
    for one in page.lost_value:
        seen = expected[one.phase]
        kept = [share for share, _ in seen if share is not None]
        assert (one.game, one.actions, one.decisions) == ("plusminus", len(seen), len(kept))
        mean = 100 * sum(kept) / len(kept) if kept else None
        assert one.kept_percent == (mean if mean is None else pytest.approx(mean))
        assert one.blunders == sum(given is not None for _, given in seen)
    text = checked(home, "bot", bot="a").text
    assert "Where it loses value" in text and "Worth a look: t " in text
    play(home, "elsewhere", ["c", "d"], GAME)
    assert "Where it loses value" not in checked(home, "bot", bot="c").text, "nothing is annotated"
    rows = csv_rows(page.csv("lost_value"))
    assert [row["phase"] for row in rows] == ["opening", "middle", "end"]
    records = {record.match: record for record in home.store.records(home.store.tournament("t"))}
    found = model_of(home, "bot", bot="b").worth_a_look
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
