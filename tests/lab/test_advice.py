"""Advice by lists of rules, which a stranger with nothing but the description of certificates finds right too."""

import re
import sys
import zlib
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import sqrt

import pytest

from arena.botkit import Clock
from arena.games import GAMES, make_game
from arena.lab.advice import ADVICE, Step, unmirrored, unpaired, unpaired_falling
from arena.lab.certificate import _LISTS, prove
from arena.lab.solving.limits import Limits
from arena.match.replay import states_of
from benchmarks.advice import BOARDS
from benchmarks.annotations import random_record
from benchmarks.mistakes import mistakes_of
from tests.best_play import brute_force, positions
from tests.bots.test_thinking import loaded
from tests.conftest import ROOT
from tests.games.reference import reference_of
from tests.lab.brute_force import margin_after

bot = loaded("advice/bot.py")


def worst(name, options, seat):
    """Return what a seat gets at least by the list, whatever it takes of what is left and whatever the other does."""
    game, sign = make_game(name, **options), 1 - 2 * seat

    @cache
    def result(state):
        to_act = game.seat_to_act(state)
        if to_act is None:
            ranks = game.ranks(state)
            return sign * ((ranks[1] > ranks[0]) - (ranks[0] > ranks[1]))
        actions = list(game.legal_actions(state))
        kept = ADVICE[name].keeping(game, state, actions) if to_act == seat else actions
        return min(result(game.apply(state, action)) for action in kept)

    return result(game.initial_state())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("differences", {"size": 4}),
        ("differences", {"size": 5, "scoring": "once"}),
        ("plusminus", {"size": 4}),
        ("plaid", {"width": 6, "height": 6, "lines": 6}),
        *(("coprimality", {"size": size, "max_grids": 1}) for size in (4, 5, 7, 8)),
    ],
)
def test_on_small_boards_a_list_keeps_the_outcome_whatever_the_other_does(name, options):
    game = make_game(name, **options)
    outcome = brute_force(game)(game.initial_state())[0]
    for seat, sign in ((0, 1), (1, -1)):
        assert worst(name, options, seat) == sign * outcome
    if name == "plusminus":  # seat 1 never loses, whoever begins the grid
        assert worst(name, {**options, "grid_first": 2}, 1) == 0


@pytest.mark.slow
def test_what_else_was_tried_with_all_replies():
    sys.setrecursionlimit(20_000)
    assert worst("multiplication", {"size": 7}, 0) == 1
    assert [worst("plusminus", {"size": 5}, seat) for seat in (0, 1)] == [0, 0]
    sheet = {"width": 12, "height": 12, "lines": 12}
    assert [worst("plaid", sheet, seat) for seat in (0, 1)] == [0, 0]
    values = {size: [worst("coprimality", {"size": size}, seat) for seat in (0, 1)] for size in range(4, 25)}
    assert [size for size, of_seats in values.items() if 1 not in of_seats] == [6, 18]


def test_mirror_images_are_those_of_the_sets_of_marks():
    for state, _ in positions(make_game("differences", size=6), 1, 20):
        marks = {(x, y) for x, y in enumerate(state.heights, 1) if y}
        assert unpaired(state.heights) == len(marks - {(y, x) for x, y in marks})
        assert unpaired_falling(state.heights) == len(marks - {(7 - y, 7 - x) for x, y in marks})
    sheet = make_game("plaid", width=8, height=6, lines=5)
    for state, seat in positions(sheet, 1, 20):
        step = Step(sheet, state, None, state, seat)
        assert unmirrored(step, "v") == len(set(state.vertical) - {8 - x for x in state.vertical})
        assert unmirrored(step, "h") == len(set(state.horizontal) - {6 - y for y in state.horizontal})


@pytest.mark.parametrize("name", GAMES)
def test_the_bot_and_the_page_of_a_game_have_its_list(name):
    game = make_game(name, **({"width": 9, "height": 8} if name == "plaid" else {"size": 7}))
    for state, _ in positions(game, 2, 3):
        actions = list(game.legal_actions(state))
        assert bot.choose(game, state, Clock(1e6, None, 0.0)) in ADVICE[name].keeping(game, state, actions)
        assert bot.choose(game, state, Clock(0.0, None, 0.0)) in actions
    page = " ".join((ROOT / "docs" / "games" / f"{name}.md").read_text(encoding="utf-8").split())
    advice = ADVICE[name]
    assert 1 <= len(advice.lines) <= 5
    for number, line in enumerate(advice.lines.values(), 1):
        assert f"{number}. {line.text}" in page
    assert advice.known in page
    found = re.findall(r"\| (with the first action|after 2 random actions) \| ([\d.]+) % \[([\d.]+), ([\d.]+)\]", page)
    shares = [(100 * one.kept / one.matches, 100 * one.interval[0], 100 * one.interval[1]) for one in advice.scores]
    assert [tuple(map(float, cells)) for _, *cells in found] == [pytest.approx(share, abs=0.05) for share in shares]
    assert [one.board for one in advice.scores if not one.random_actions] == list(BOARDS[name])
    kinds = re.findall(r" \d\. \d+ %: in the (?:first|second|last) third", page.partition("### How you lose")[2])
    assert len(kinds) == page.count("```text") == (1 if name == "coprimality" else 3)


def test_mistakes_are_those_that_give_an_outcome_away():
    game = make_game("differences", size=4)
    value = brute_force(game)
    records = [replace(random_record(number, "differences", {"size": 4}), opening_plies=0) for number in range(1, 41)]
    found = [one for kind in mistakes_of("differences", records).values() for one in kind]
    expected = 0
    for record in records:
        values = [value(state)[0] for _, state in states_of(record)]
        losses = [before - after for before, after in pairwise(values)]
        expected += sum(loss * (1 - 2 * seat) > 0 for (seat, _), loss in zip(record.actions, losses, strict=True))
    assert len(found) == expected > 10
    for one in found:
        now, played, better = (value(state)[0] for state in (one.state, *(game.apply(one.state, a) for a in one[4:6])))
        assert better == now != played


def marks_of(history):
    return {tuple(action) for action in history if action not in ("+", "-")}


def transposition(rules, seat, before, action):
    marks = marks_of([*before, action])
    return marks == {(y, x) for x, y in marks}


def copied_signs(rules, seat, before, action):
    if action in ("+", "-"):
        return seat == 1 and before[-1] == action
    return transposition(rules, seat, before, action)


def reflection(rules, seat, before, action):
    own, side = ("v", rules.w) if rules.w % 2 == 0 else ("h", rules.h)
    places = {place for direction, place in [*before, action] if direction == own}
    return 2 * (places == {side - place for place in places}) + len(places) % 2


def lead(rules, seat, before, action):
    after = [*before, action]
    xs = [0, *sorted(place for direction, place in after if direction == "v"), rules.w]
    ys = [rules.h, *sorted((place for direction, place in after if direction == "h"), reverse=True), 0]
    boxes = [(x - left, top - y) for top, y in pairwise(ys) for left, x in pairwise(xs)]
    ahead = sum((-1) ** number * sqrt(wide**2 + high**2) for number, (wide, high) in enumerate(boxes))
    return -ahead if seat else ahead


def safe(rules, seat, before, action):
    return seat not in rules.play([*before, action])[2]


def end_of_the_way(rules, seat, before, action):
    history = [*before, action]
    for _ in range(400):
        grid, to_act, _, _, is_over = rules.play(history)
        if is_over:
            break
        ways = [step for step in rules.squares_for_next(grid) if to_act not in rules.play([*history, step])[2]]
        if len(ways) != 1:
            return "choice" if ways else "out", 1 if to_act == seat else -1
        history.append(ways[0])
    return "over", 0


def way(*at):
    end, who = end_of_the_way(*at)
    return -who if end == "out" else 0


def choice(*at):
    end, who = end_of_the_way(*at)
    return who if end == "choice" else 0


def inside(rules, seat, before, action):
    return min(*action, rules.n + 1 - action[0], rules.n + 1 - action[1]) - 1


LINES = {
    "transposition": transposition, "copied-signs": copied_signs, "reflection": reflection, "lead": lead,
    "safe": safe, "way": way, "choice": choice, "inside": inside,
}  # fmt: skip


def same(name, rules, history):
    if name == "coprimality":
        grid, to_act, _, used, _ = rules.play(history)
        return frozenset(grid.items()), to_act, used
    return frozenset(marks_of(history)), tuple(action for action in history if action in ("+", "-"))


def least(name, options, seat, lines):
    rules, seen, unseen, held = reference_of(name, options), set(), [[]], []
    if name == "coprimality":
        remembered = cache(rules.play)
        rules.play = lambda history: remembered(tuple(history))
    while unseen:
        history = unseen.pop()
        key = same(name, rules, history)
        points = rules.result(history)
        if points is not None:
            margin = (points[0] - points[1]) * (-1 if seat else 1)
            held.append((margin > 0) - (margin < 0) if name == "plaid" else int(margin))
        elif key not in seen:
            actions = rules.legal(history)
            for line in lines if rules.turn(history) == seat else ():
                values = [LINES[line](rules, seat, history, action) for action in actions]
                actions = [a for a, value in zip(actions, values, strict=True) if value > max(values) - 1e-9]
            unseen += [[*history, action] for action in actions]
        seen.add(key)
    return min(held)


CASES = {
    "differences": ("differences", {"size": 4}),
    "plusminus": ("plusminus", {"size": 3}),
    "plaid, upright": ("plaid", {"width": 6, "height": 4, "lines": 4}),
    "plaid, small": ("plaid", {"width": 4, "height": 4, "lines": 3}),
    "coprimality 4": ("coprimality", {"size": 4, "max_grids": 1}),
    "coprimality 5": ("coprimality", {"size": 5, "max_grids": 2}),
    "coprimality 6": ("coprimality", {"size": 6, "max_grids": 1}),
}


def read(text):
    body, end = text[:-13], text[-13:]
    assert end == f"end {zlib.crc32(body.encode()):08x}\n"
    version, game, *lines = body.splitlines()
    assert version == "arena certificate 1"
    words = [line.split() for line in lines]
    options = {line[1]: int(line[2]) for line in words if line[0] == "option"}
    claims = [(int(line[1]), int(line[3]), line[5]) for line in words if line[0] == "seat"]
    return game.removeprefix("game "), options, claims


@pytest.mark.slow(only=("plaid, upright", "coprimality 5", "coprimality 6"), sample=("coprimality 5",))
@pytest.mark.parametrize(("name", "options"), CASES.values(), ids=CASES)
def test_what_a_list_holds_is_what_a_stranger_finds(name, options):
    certificate = prove(make_game(name, **options), name, Limits(), by_advice=True)
    game, stated, claims = read(certificate.text())
    assert game == name
    assert {**stated, **options} == stated
    listed = [claim for claim in claims if claim[2] != "table"]
    assert listed
    for seat, holds, lines in listed:
        found = least(name, options, seat, lines.split(","))
        assert found == holds if "," in lines else found >= holds
    if name != "coprimality":
        margin = margin_after(name, options)
        assert certificate.value == ((margin > 0) - (margin < 0) if name == "plaid" else margin)


@pytest.mark.parametrize("name", _LISTS)
def test_a_list_of_a_certificate_begins_the_list_of_advice(name):
    _, keys = _LISTS[name]
    assert tuple(ADVICE[name].lines)[: len(keys)] == keys


@pytest.mark.parametrize(("width", "height", "lines"), [(8, 6, 6), (6, 9, 7)])
def test_by_how_much_a_seat_leads_on_a_sheet_is_what_a_stranger_finds(width, height, lines):
    game = make_game("plaid", width=width, height=height, lines=lines)
    rules = reference_of("plaid", {"width": width, "height": height, "lines": lines})
    for state, seat in positions(game, 1, 20):
        before = [("v", x) for x in state.vertical] + [("h", y) for y in state.horizontal]
        for action in game.legal_actions(state):
            step = Step(game, state, action, game.apply(state, action), seat)
            assert ADVICE["plaid"].lines["lead"].value(step) == pytest.approx(lead(rules, seat, before, action))
