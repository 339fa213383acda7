import functools
import json
import random
import sys
import threading
import time

import pytest

from arena import TimeControl, enter_late, function_bot, play_match, replace_bot, run_tournament, standings_of, verify
from arena.analysis.text.verdict import standings_footer
from arena.base.bot_text import OPERATOR
from arena.base.enums import ClockKind
from arena.base.errors import BotDefinitionError, DefinitionError, UsageError
from arena.botkit import Choice
from arena.match.players.function_player import OutOfTimeError, call_within
from arena.tournament.definition import make_definition

GAME, OPTIONS = "differences", {"size": 4}
OF_THREE = "expected a function of three arguments, (game, state, clock)"
QUICK = TimeControl(per_action_seconds=0.05, margin_seconds=0.0)


def first(game, state, clock):
    return game.legal_actions(state)[0]


def last(game, state, clock):
    return game.legal_actions(state)[-1]


def draws(game, state, clock):
    return random.choice(game.legal_actions(state))


def spins(game, state, clock):
    while True:
        pass


def swallows(game, state, clock):
    while True:
        try:
            time.sleep(10)
        except Exception:
            continue


def fails(game, state, clock):
    return {}["nothing here"]


def leaves(game, state, clock):
    raise SystemExit("I leave")


class StrangeError(BaseException):
    def __str__(self):
        raise ValueError("no text")


def stops_oddly(game, state, clock):
    raise StrangeError


class Unshowable(list):
    def __iter__(self):
        raise ValueError("no items")

    def __repr__(self):
        raise ValueError("no repr")


def leaves_unshowably(game, state, clock):
    raise SystemExit(Unshowable())


DEEP = functools.reduce(lambda inner, _: [inner], range(100_000), [])


def breaks_the_rules(game, state, clock):
    action = first(game, state, clock)
    game.apply = None
    return action


def played(*functions, **settings):
    return play_match(GAME, *functions, options=OPTIONS, **settings)


def fault_of(function, **settings):
    record = played(function, first, **settings)
    (fault,) = record.faults
    assert (fault.seat, fault.ply, record.ranks) == (0, 0, (2, 1))
    return fault.kind, fault.detail.for_operator()


def test_two_functions_play_a_match_by_the_rules():
    record = played(first, last)
    # on a board of four columns, 'first' takes the lowest free column and 'last' the highest one
    assert [seat for seat, _ in record.actions] == [0, 1] * (len(record.actions) // 2)
    assert [list(action) for _, action in record.actions[:2]] == [[1, 1], [4, 4]]
    assert (record.bots, record.faults, record.termination) == (("first@1", "last@1"), (), "normal")
    assert (record.isolation, [seat.exit for seat in record.seats]) == ("in-process", ["in process"] * 2)
    assert json.loads(json.dumps(record.to_json(OPERATOR)))["isolation"] == "in-process"


def test_the_same_seed_gives_the_same_match_and_the_caller_keeps_its_own_randomness():
    random.seed(1)
    before = random.getstate()
    matches = [played(draws, draws, rng_seed=seed).actions for seed in (5, 5, 6)]
    assert random.getstate() == before
    assert matches[0] == matches[1] != matches[2]


@pytest.mark.parametrize(
    ("function", "kind", "part"),
    [
        (spins, "timeout", "no answer within 0.05 s"),
        (swallows, "timeout", "no answer within 0.05 s"),
        (fails, "exit", "the function raised KeyError: \"'nothing here'\""),
        (leaves, "exit", "the function raised SystemExit: 'I leave'"),
        (stops_oddly, "exit", 'the function raised StrangeError: "its text can\'t be shown" (line '),
        (leaves_unshowably, "exit", "the function raised SystemExit: <Unshowable>"),
        (lambda game, state, clock: DEEP, "protocol", "<list> is no action: "),
        (lambda game, state, clock: Unshowable, "protocol", "is no action: can not serialize 'type' object"),
        (lambda game, state, clock: {"a": Unshowable()}, "protocol", "<dict> is no action: no items"),
        (lambda game, state, clock: 10**5000, "protocol", "<int> is no action: "),
        (lambda game, state, clock: None, "illegal", "None"),
        (lambda game, state, clock: {1, 2}, "protocol", "{1, 2} is no action"),
        (lambda game, state, clock: "+" * 10**6, "limit", "message_bytes allows 65536"),
        (lambda game, state, clock: Choice([1, 1], "n" * 10_000), "limit", "note_bytes allows 4096"),
    ],
)
def test_what_a_function_does_wrong_is_its_fault(function, kind, part):
    patient = TimeControl(per_action_seconds=20.0)  # a busy machine may take more than the quick one
    found, detail = fault_of(function, time_control=QUICK if kind == "timeout" else patient)
    assert (found, part in detail) == (kind, True), detail


def test_a_function_that_breaks_its_own_copy_of_the_rules_forfeits():
    (fault,) = played(breaks_the_rules, first).faults
    assert (fault.seat, fault.ply, fault.kind) == (0, 2, "exit")
    assert "the rules that the function was given can't follow the match any more: TypeError" in fault.detail


def test_on_the_cpu_clock_a_function_that_sleeps_keeps_its_time():
    def sleeps(game, state, clock):
        time.sleep(0.1)
        return first(game, state, clock)

    on_cpu = TimeControl(per_action_seconds=0.05, margin_seconds=0.0, clock=ClockKind.CPU)
    assert played(sleeps, first, time_control=on_cpu).faults == ()
    assert fault_of(sleeps, time_control=QUICK)[0] == "timeout"


def test_a_traceback_is_kept_from_the_function_on():
    record = played(fails, first)
    assert record.seats[0].stderr.for_operator().splitlines()[0] == "Traceback (most recent call last):"
    assert "in fails" in record.seats[0].stderr.for_operator().splitlines()[1]


def test_numpy_integers_are_refused_with_their_type():
    numpy = pytest.importorskip("numpy")
    kind, detail = fault_of(lambda game, state, clock: (numpy.int64(1), numpy.int64(1)))
    assert (kind, "numpy.int64" in detail) == ("protocol", True)


def test_a_note_of_a_function_is_in_the_record():
    record = played(lambda game, state, clock: Choice(game.legal_actions(state)[0], {"nodes": 3}), first)
    assert record.notes.for_operator()[0] == [0, {"nodes": 3}]


def test_a_name_is_the_functions_own_or_given():
    class Thinker:
        def __call__(self, game, state, clock):
            return first(game, state, clock)

    names = [function_bot(f).name for f in (first, lambda g, s, c: 1, Thinker(), functools.partial(first))]
    assert names == ["first", "lambda", "Thinker", "first"]
    assert function_bot(first, "best", "2").label == "best@2"
    with pytest.raises(BotDefinitionError, match="function first: name = 'a@b'"):
        function_bot(first, "a@b")


def test_a_call_is_interrupted_in_any_thread_which_can_be_traced_thereafter():
    """As debuggers and coverage do: Python 3.11 looked for an exception for ever once one had been taken back."""
    lines = []

    def trace(frame, event, argument):
        lines.append(frame.f_lineno)
        return trace

    def try_it():
        with pytest.raises(OutOfTimeError):
            call_within(0.01, lambda: spins(None, None, None))
        assert call_within(10, lambda: "done") == "done"
        sys.settrace(trace)
        spins_once()
        sys.settrace(None)

    thread = threading.Thread(target=try_it, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert lines


def spins_once():
    return 1


def test_functions_play_a_tournament_in_process_and_the_table_says_so(home):
    definition = make_definition("t", GAME, {"low": first, "high": last, "broken": fails}, options=OPTIONS)
    progress = run_tournament(definition, home.store)
    assert (progress.recorded, progress.is_complete) == (6, True)
    table = standings_of(home.store, "t")
    assert table.lines[-1].bot == "broken"
    assert table.lines[-1].faults == {"exit": 4}  # two rivals, both seats
    assert [line.is_function for line in table.lines] == [True] * 3
    assert "are Python functions, played without isolation." in standings_footer(table)
    assert verify(home, home.store.tournament("t")).problems == []


def test_a_tournament_of_functions_is_resumed_and_not_with_other_functions(home):
    run_tournament(make_definition("t", GAME, {"a": first, "b": last}, options=OPTIONS), home.store)
    again = run_tournament(make_definition("t", GAME, {"a": first, "b": last}, options=OPTIONS), home.store)
    assert (again.played, again.recorded) == (0, 2)
    with pytest.raises(DefinitionError, match="differs in the bot 'b@1'"):
        run_tournament(make_definition("t", GAME, {"a": first, "b": draws}, options=OPTIONS), home.store)
    assert home.store.tournament("t").recorded == 2


def test_functions_replace_entrants_and_enter_late(home):
    def definition(**entrants):
        return make_definition("t", GAME, entrants, options=OPTIONS)

    run_tournament(definition(a=first, b=last), home.store)
    replace_bot(home.store, "t", "b", function_bot(draws, "b", "2"), reason="a better idea")
    enter_late(home.store, "t", function_bot(fails, "c"), reason="was ill")
    with pytest.raises(BotDefinitionError, match="'b@2', which came by a correction, is a Python function: name it"):
        run_tournament(definition(a=first, b=last), home.store)
    corrected = definition(a=first, b=function_bot(draws, version="2"), c=fails)
    progress = run_tournament(corrected, home.store)
    assert (progress.recorded, progress.is_complete) == (6, True)  # three pairs, both seats
    assert verify(home, home.store.tournament("t")).problems == []


def test_functions_do_not_travel_to_other_processes(home):
    definition = make_definition("t", GAME, [first, last], options=OPTIONS)
    with pytest.raises(UsageError) as error:
        run_tournament(definition, home.store, executor="local")
    sentence = "entrant 'first' is a Python function, which plays in this process: expected executor=\"in-process\""
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("entrants", "keys", "sentence"),
    [
        ([first, first], {}, "another entrant has this name and version"),
        ([first, 3], {}, "entrants[1]: bot 3: expected a path, a bot or a function"),
        (first, {}, "expected a list of bots, or a map of them"),
        ({"a@": first, "b": last}, {}, "entrants[0]: name = 'a@'"),
        ([first, last], {"color": 3}, "color: unknown key"),
    ],
)
def test_a_definition_names_what_is_wrong(entrants, keys, sentence):
    with pytest.raises(DefinitionError) as error:
        make_definition("t", GAME, entrants, **keys)
    assert str(error.value).startswith("tournament 't': ")
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ((GAME, first), UsageError, f"{GAME} with these options has 2 seats; got 1 bot"),
        ((GAME, first, first, first), UsageError, f"{GAME} with these options has 2 seats; got 3 bots"),
        ((3, first, first), UsageError, "game 3: expected a name, such as differences or module:Class"),
        ((GAME, lambda game: 1, first), BotDefinitionError, f"function <lambda>(game): {OF_THREE}"),
        ((GAME, 3, first), BotDefinitionError, "bot 3: expected a path, a bot or a function of (game, state, clock)"),
        (
            (GAME, None, first),
            BotDefinitionError,
            "bot None: expected a path, a bot or a function of (game, state, clock)",
        ),
    ],
)
def test_a_match_names_what_is_wrong(arguments, error, sentence):
    with pytest.raises(error) as raised:
        play_match(*arguments)
    assert str(raised.value) == sentence


def test_a_function_plays_a_bot():
    record = played(first, "arena:minimal")
    assert (record.bots, record.faults, record.isolation) == (("first@1", "minimal@1"), (), "in-process")
    assert [seat.exit for seat in record.seats] == ["in process", "running"]
