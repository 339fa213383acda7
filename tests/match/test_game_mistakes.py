from dataclasses import replace
from unittest.mock import Mock

import pytest

from arena.base.errors import BotError, GameError, MatchStateError
from arena.base.records import Bot, MatchRecord
from arena.games import GAMES, make_game
from arena.games.checked_game import check_position, checked_game, is_seen_in_frames
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.match.replay import states_of
from arena.match.single_match import ask_bot
from arena.protocol.messages import Wants
from tests.matches import paper_bots, small_match

BLIND = Wants(legal=False, observation=False)

MISTAKES = {
    "ApplyRaises": ("apply", "raised KeyError: 1 (mistaken_games.py:"),
    "ApplyIsCached": ("apply", "raised TypeError: unhashable type: 'list'"),
    "ApplyRefusesALegalAction": ("apply", "refuses what legal_actions lists: 1: no more"),
    "ApplyReturnsNothing": ("apply", "returned None; expected a state"),
    "ApplyExits": ("apply", "raised SystemExit: 3 (mistaken_games.py:"),
    "ApplyRaisesNoException": (
        "apply",
        "raised tests.mistaken_games.StrangeError: <exception str() failed> (mistaken_games.py:",
    ),
    "ApplyRaisesAnErrorOfTheArena": (
        "apply",
        "raised arena.base.errors.VoidMatchError: the machine has no memory (mistak",
    ),
    "SeatIsStaticAndRaises": ("seat_to_act", "raised KeyError: 2 (mistaken_games.py:"),
    "SeatCannotBeShown": ("seat_to_act", "returned no seat from 0 to 1: <Unshowable>"),
    "ScoreIsNoFloat": ("scores", "returned an integer of more than 64 bits: (1000"),
    "PrepareLosesTheSeats": ("prepare", "left players = 'two' and options = {'goal': 9}; expected"),
    "ActionsAreAGenerator": ("legal_actions", "returned no list or tuple: <generator object"),
    "ActionsRaise": ("legal_actions", "raised ZeroDivisionError: integer division or modulo by zero (mistaken_games"),
    "NoActions": ("legal_actions", "returned no action, though seat 0 is to act"),
    "SeatTooHigh": ("seat_to_act", "returned no seat from 0 to 1: 2"),
    "SeatNegative": ("seat_to_act", "returned no seat from 0 to 1: -1"),
    "SeatIsABoolean": ("seat_to_act", "returned no seat from 0 to 1: False"),
    "SeatRaises": ("seat_to_act", "raised TypeError: 'NoneType' object is not subscriptable (mistaken_games.py:"),
    "ScoreIsNoNumber": ("scores", "returned what is not a finite number: (nan, 0)"),
    "ScoreIsInfinite": ("scores", "returned what is not a finite number: (inf, 0)"),
    "ThreeScores": ("scores", "returned 3 numbers for 2 seats: (0, 0, 0)"),
    "ScoresAreTexts": ("scores", "returned what is not a finite number: ('won', 'lost')"),
    "ScoreIsHuge": ("scores", "returned an integer of more than 64 bits: (18446744073709551616, 0)"),
    "ScoresAreOneNumber": ("scores", "returned no tuple: 1"),
    "RanksBeginAtZero": ("ranks", "returned what are no ranks"),
    "RanksSkipTheBest": ("ranks", "returned what are no ranks"),
    "RanksAreFloats": ("ranks", "returned what are no ranks"),
    "ObservationIsAList": ("observation", "returned no dictionary: [0]"),
    "InitialStateRaises": ("initial_state", "raised RuntimeError: no board (mistaken_games.py:"),
    "InitialStateIsMissing": ("initial_state", "returned None; expected a state"),
    "PrepareRaises": ("prepare", "raised ZeroDivisionError: goal (mistaken_games.py:"),
}

UNSENDABLE = {
    "ObservationHasATupleAsKey": "returned what a message can't carry: the key (0, 1); expected texts as keys",
    "ObservationIsASet": "returned what a message can't carry: {1, 2}, of the type set",
    "ObservationIsTooDeep": "returned what a message can't carry: what is nested too deeply",
    "ObservationIsTooLarge": "and legal_actions are too large for a message of 1,048,576 bytes: 2,0",
    "ObservationContainsItself": "returned what a message can't carry: more than 1,048,576 values",
}


def path_of(name: str) -> str:
    return f"tests.mistaken_games:{name}"


def play(name: str, *players: ScriptedPlayer) -> MatchRecord:
    return Referee(small_match(*paper_bots(len(players)), game=path_of(name), options={}), players).play()


def first_legal(wants: Wants | None = None) -> ScriptedPlayer:
    return ScriptedPlayer(lambda request: 1, wants)


def test_the_game_without_a_mistake_is_played_to_its_end() -> None:
    record = play("Counting", first_legal(), first_legal())
    assert (record.scores, record.ranks, record.faults) == ((1, 0), (1, 2), ())


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_the_method_and_what_it_did(name: str) -> None:
    method, problem = MISTAKES[name]
    with pytest.raises(GameError) as caught:
        play(name, first_legal(), first_legal())
    assert str(caught.value).startswith(f"the game {path_of(name)!r} is at fault: {method} {problem}")
    assert "\n" not in str(caught.value)


@pytest.mark.slow(only=("ObservationContainsItself", "ObservationIsTooDeep"))
@pytest.mark.parametrize("name", UNSENDABLE)
def test_an_observation_that_no_message_can_carry_is_not_the_fault_of_the_bot_that_fails_on_it(name: str) -> None:
    with pytest.raises(GameError) as caught:
        play(name, ScriptedPlayer([BotError("exit", "exit status 1")]), first_legal())
    assert str(caught.value).startswith(f"the game {path_of(name)!r} is at fault: observation {UNSENDABLE[name]}")


def test_an_observation_that_can_not_be_sent_is_no_defect_of_the_arena() -> None:
    unpacked = ScriptedPlayer(Mock(side_effect=MatchStateError("an act message can't be packed")))
    with pytest.raises(GameError, match="observation"):
        play("ObservationIsASet", unpacked, first_legal())


def test_the_games_of_the_arena_need_no_check_at_every_ply() -> None:
    assert all(is_seen_in_frames(make_game(name)) for name in GAMES)
    assert is_seen_in_frames(make_game("plaid", pie=1))


def test_bots_that_want_no_observation_are_not_disturbed_by_a_wrong_one() -> None:
    assert play("ObservationHasATupleAsKey", first_legal(BLIND), first_legal(BLIND)).ranks == (1, 2)


def test_a_bot_that_fails_where_the_next_action_is_a_mistake_does_not_forfeit() -> None:
    """A bot that looks one action ahead meets the mistake of the rules before the arena does."""
    fails_late = ScriptedPlayer([2, BotError("exit", "exit status 1")], BLIND)
    with pytest.raises(GameError, match="apply raised KeyError: 1"):
        play("ApplyRaises", fails_late, ScriptedPlayer([2], BLIND))


def test_a_bot_that_fails_where_the_game_is_right_forfeits() -> None:
    record = play("ApplyRaises", ScriptedPlayer([BotError("exit", "exit status 1")]), first_legal())
    assert [fault.kind for fault in record.faults] == ["exit"]


def test_an_illegal_action_is_the_fault_of_the_bot_even_if_it_looks_like_a_legal_one() -> None:
    for action in (3, 1.0, True, "1", [1], None, {}):
        record = play("Counting", ScriptedPlayer([action]), first_legal())
        assert [fault.kind for fault in record.faults] == ["illegal"]


def test_an_action_that_no_bot_can_send_is_not_the_fault_of_the_bot_that_tries() -> None:
    """A message of a bot has 16 levels: it is a map, in which this action has 16 more."""
    with pytest.raises(GameError, match="legal_actions returned an action of more than 15 nested levels"):
        play("ActionIsTooDeep", ScriptedPlayer([BotError("limit", "nested deeper than 16 levels")]), first_legal())


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_neither_ctrl_c_nor_want_of_memory_is_a_mistake_of_the_game(error: type[BaseException]) -> None:
    game = make_game(path_of("Counting"))
    game.apply = Mock(side_effect=error())  # type: ignore[method-assign]
    with pytest.raises(error):
        checked_game(game, "counting").apply((0, 0), 1)


def test_rules_that_choke_on_an_illegal_action_are_at_fault() -> None:
    with pytest.raises(GameError, match=r"apply raised KeyError: 'nonsense' \(mistaken_games.py:\d+\)"):
        play("ApplyChokesOnNonsense", ScriptedPlayer(["nonsense"]), first_legal())


def test_a_withdrawal_that_raises_is_a_mistake_of_the_game() -> None:
    players = [ScriptedPlayer([BotError("exit", "exit status 1")]), first_legal(), first_legal()]
    with pytest.raises(GameError, match="withdraw raised NotImplementedError: no elimination yet"):
        play("WithdrawRaises", *players)


def test_a_drawing_that_raises_costs_no_match() -> None:
    assert play("RenderRaises", first_legal(), first_legal()).ranks == (1, 2)


def test_a_replay_names_the_game_too() -> None:
    record = play("Counting", first_legal(), first_legal())
    with pytest.raises(GameError, match="apply raised KeyError: 1"):
        list(states_of(replace(record, game=path_of("ApplyRaises"))))


def test_a_question_to_a_bot_names_the_game_too() -> None:
    bot = Bot(name="b", version="1", command=("/no/such/program",), directory="/")
    with pytest.raises(GameError, match="apply raised KeyError: 1"):
        ask_bot(bot, path_of("ApplyRaises"), {}, [[0, 2], [1, 2], [0, 1]])


def test_a_position_of_a_correct_game_passes() -> None:
    game = checked_game(make_game("differences", size=4), "differences")
    check_position(game, game.initial_state(), 1024, 15)
    with pytest.raises(GameError, match="too large for a message of 20 bytes"):
        check_position(game, game.initial_state(), 20, 15)
