import itertools
import os
import signal
import time
from pathlib import Path

import pytest

from arena.games import make_game
from arena.store.people.unrated_match import MatchState, PlayRequest, hinted_action
from tests.best_play import brute_force
from tests.community.play.conftest import actions, view
from tests.written_bots import kit_bot

pytestmark = pytest.mark.slow

NOTING = kit_bot("legal = game.legal_actions(state)", action='Choice(legal[0], note=f"of {len(legal)}")')


@pytest.mark.parametrize("game", ["plaid", "multiplication"])
def test_every_game_can_be_played_to_its_end(hosted, game):
    """A game of lines, and one of squares in which there are other actions, too."""
    options = {"plaid": {"width": 6, "height": 6, "lines": 3}, "multiplication": {"size": 7}}[game]
    one = hosted.ready(hosted.begin(game, bot="arena:random_legal", seat=1, **options))
    while one.position.state is MatchState.PERSON:
        shown = view(one)
        places = [place["action"] for place in shown["places"] if place["action"]]
        assert not places or sorted(places) == sorted(shown["legal"])
        one = hosted.request(one, PlayRequest.ACT, shown["legal"][-1])
    assert (one.position.state, one.position.reason, one.has_slot) == (MatchState.OVER, "", False)
    rules = make_game(game, **options)
    states = [rules.initial_state()]
    for seat, action in actions(one):
        assert rules.seat_to_act(states[-1]) == seat
        states.append(rules.apply(states[-1], action))
    assert rules.is_over(states[-1])
    ended = view(one)
    assert ended["shown"]["positions"][-1]["scores"] == pytest.approx(list(rules.scores(states[-1])))
    assert ended["result"].endswith(".") and ended["analysis"].endswith(".")
    if game == "plaid":  # everything can be looked at
        results = [brute_force(rules)(state)[0] for state in states]
        gave_away = [before != after for before, after in itertools.pairwise(results)]
        assert [one["mark"] == "??" for one in ended["actions"]] == gave_away


def test_among_three_a_bot_plays_two_seats_and_one_that_forfeits_stays_out_after_an_undo(hosted):
    """After a restart, too; and the end says that it forfeited, and how."""
    label = hosted.submit(kit_bot("if game.seat_to_act(state) == 1: raise ValueError"), "mine")
    one = hosted.ready(hosted.begin("coprimality", bot=label, seat=2, size=4, players=3))
    assert view(one)["shown"]["names"] == [f"{label} (seat 0)", f"{label} (seat 1)", "you"]
    begun = actions(one)
    assert [(seat, action is None) for seat, action in begun] == [(0, False), (1, True)]
    one = hosted.request(one, PlayRequest.ACT, view(one)["legal"][0])
    one = hosted.request(one, PlayRequest.UNDO)
    assert actions(one) == begun
    one = hosted.request(one, PlayRequest.HINT)
    assert hinted_action(one.answer) in view(one)["legal"]
    while one.position.state is MatchState.PERSON:
        one = hosted.request(one, PlayRequest.ACT, view(one)["legal"][0])
    assert one.position.state is MatchState.OVER
    assert {seat for seat, _ in actions(one)[2:]} == {0, 2}
    assert one.position.reason == f"{label} (seat 1) forfeits: the bot ended before the match did (exit)"
    assert f"{label} (seat 1) forfeits (exit at ply 1)" in view(one)["result"]


def test_actions_are_refused_taken_back_and_advised(hosted):
    one = hosted.ready(hosted.begin(size=4))
    assert (one.position.plies, one.position.state) == (0, MatchState.PERSON)
    one = hosted.request(one, PlayRequest.ACT, "zz")
    assert one.answer.startswith("zz: a square is written like c4")
    one = hosted.request(one, PlayRequest.UNDO)
    assert one.answer == "You have no action to take back."
    one = hosted.request(one, PlayRequest.HINT)
    before = actions(one)
    assert one.answer.startswith("greedy@1 would play ")
    assert hinted_action(one.answer) in view(one)["legal"]
    assert before == []
    one = hosted.request(one, PlayRequest.ACT, "a1")
    assert actions(one)[0] == (0, (1, 1))
    assert len(actions(one)) == 2
    one = hosted.request(one, PlayRequest.ACT, "a1")
    assert one.answer.startswith("a1: ")
    one = hosted.request(one, PlayRequest.UNDO)
    assert (actions(one), one.answer) == ([], "")
    one = hosted.request(one, PlayRequest.ACT, "b2")
    assert actions(one)[0] == (0, (2, 2))


def test_notes_stay_with_the_actions_that_stay_when_one_is_taken_back_and_after_a_restart(playing):
    label = playing.submit(NOTING, "noting")
    playing.start()
    one = playing.ready(playing.begin(bot=label, size=6))
    one = playing.request(one, PlayRequest.ACT, "a1")
    assert view(one)["notes"] == []  # while it is played
    one = playing.request(one, PlayRequest.ACT, view(one)["legal"][0])
    one = playing.request(one, PlayRequest.UNDO)
    playing.kill()
    playing.matches.request(one.number, PlayRequest.ACT, one.position.plies, view(one)["legal"][0])
    playing.start()
    before, one = actions(one), playing.ready(one)
    assert actions(one)[: len(before)] == before
    assert len(actions(one)) == len(before) + 2
    while one.position.state is MatchState.PERSON:
        one = playing.request(one, PlayRequest.ACT, view(one)["legal"][0])
    assert view(one)["notes"] == ["2: of 25", "4: of 9", "6: of 1"]


@pytest.mark.parametrize(
    ("line", "milliseconds", "reason"),
    [
        ("raise ValueError('a secret of the bot')", 60_000, "the bot ended before the match did (exit)"),
        ("return 'nonsense'", 60_000, "the bot sent an illegal action (illegal)"),
        ("import time; time.sleep(60)", 100, "the bot did not answer in time (timeout)"),
        ("import sys; sys.stderr.write('x' * 50_000_000)", 60_000, "the bot used more than its limits allow (limit)"),
    ],
    ids=["exit", "illegal", "timeout", "limit"],
)
def test_a_bot_that_misbehaves_ends_the_match_with_a_sentence(hosted, line, milliseconds, reason):
    label = hosted.submit(kit_bot(line), "mine")
    one = hosted.ready(hosted.begin(bot=label, milliseconds=milliseconds, size=4))
    assert one.position.state is MatchState.PERSON
    one = hosted.request(one, PlayRequest.ACT, "a1")
    assert one.position.state is MatchState.OVER
    assert one.position.reason == f"{label} forfeits: {reason}"
    assert view(one)["result"].startswith(f"You win: {label} forfeits")
    assert "a secret of the bot" not in one.position.view + one.position.reason
    if "exit" in reason:
        label = hosted.submit("print('hello there')", "mine")
        one = hosted.ready(hosted.begin(bot=label, size=4))
        assert one.position.reason == f"{label} forfeits: the bot sent something that is no valid message (protocol)"


def test_what_can_not_be_played_says_why(hosted):
    one = hosted.ready(hosted.begin("multiplication", size=8))
    assert (one.position.state, one.has_slot) == (MatchState.OVER, False)
    assert one.position.reason.startswith("The game can't be played with these options: ")
    one = hosted.ready(hosted.begin(bot="nobody@1"))
    assert one.position.state is MatchState.FAILED
    assert one.position.reason == "The bot nobody@1 is not here any more."


def test_the_match_continues_when_its_process_is_killed_while_the_bot_thinks(playing):
    label = playing.submit(kit_bot("import time; time.sleep(2)"), "slow")
    playing.start()
    one = playing.ready(playing.begin(bot=label, size=6))
    act_until_seen_thinking(playing, one)
    one = playing.matches.find(one.secret)
    acted = len(actions(one))
    host = playing.host.pid
    children = Path(f"/proc/{host}/task/{host}/children").read_text().split()
    [slot] = [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    os.kill(int(slot), signal.SIGKILL)
    one = playing.ready(one)
    assert (one.position.state, len(actions(one))) == (MatchState.PERSON, acted + 1)


def act_until_seen_thinking(playing, one):
    """Act until the bot is seen to think about its answer; a busy machine may have looked away the first time."""
    while one.position.state is not MatchState.BOT:
        playing.matches.request(one.number, PlayRequest.ACT, one.position.plies, view(one)["legal"][0])
        while (found := playing.matches.find(one.secret)).position.plies < one.position.plies + 2:
            if found.position.state is MatchState.BOT:
                return
            time.sleep(0.02)
        one = playing.ready(found)


def test_who_resigns_frees_the_place_while_the_bot_thinks(hosted):
    label = hosted.submit(kit_bot("import time; time.sleep(60)"), "slow")
    thinking = [hosted.begin(bot=label, seat=1, size=4) for _ in range(2)]
    while any(hosted.matches.find(one.secret).position.state is not MatchState.BOT for one in thinking):
        time.sleep(0.02)
    for one in thinking:
        hosted.matches.end(one.number, "You resigned.")
    one = hosted.ready(hosted.begin(size=4))
    assert one.position.state is MatchState.PERSON


def test_a_bot_plays_another_in_the_place_of_a_person(hosted):
    label = hosted.submit(NOTING, "mine")
    one = hosted.ready(hosted.begin(bot="arena:random_legal", challenger=label, seat=1, size=4))
    assert (one.position.state, one.position.reason, one.has_slot) == (MatchState.OVER, "", False)
    rules = make_game("differences", size=4)
    state = rules.initial_state()
    for seat, action in actions(one):
        assert rules.seat_to_act(state) == seat
        assert seat == 0 or action == rules.legal_actions(state)[0]
        state = rules.apply(state, action)
    assert rules.is_over(state)
    assert view(one)["shown"]["names"] == ["random_legal@1", label]
    assert "you" not in view(one)["result"].lower().split()
    assert all(played["seconds"] is not None for played in view(one)["actions"])
    gone = hosted.ready(hosted.begin(bot="arena:greedy", challenger="nobody@1", size=4))
    assert (gone.position.state, gone.position.reason) == (MatchState.FAILED, "The bot nobody@1 is not here any more.")
