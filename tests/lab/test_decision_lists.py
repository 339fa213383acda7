"""A stranger that has nothing but the rules and the description of certificates agrees about decision lists."""

import zlib
from functools import cache
from itertools import pairwise
from math import sqrt

import pytest

from arena.games import make_game
from arena.lab.advice import ADVICE, Step
from arena.lab.certificate import _LISTS, prove
from arena.lab.solving.limits import Limits
from tests.best_play import positions
from tests.games.reference import reference_of
from tests.lab.brute_force import margin_after


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
    """Return the least that a seat gets by a list, whatever it takes of what is left and whatever the other does."""
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
    """Return game, options and claims of a certificate."""
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
