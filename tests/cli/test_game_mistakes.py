import json

import pytest

from arena.base.errors import GameError
from arena.cli.terminal.common import no_result_sentences
from tests.cli.calls import as_json, printed, refusal, told
from tests.conftest import BOTS

GAMES = "tests.mistaken_games"
AT_FAULT = f"the game '{GAMES}:ApplyRaises' is at fault: apply raised KeyError: 1 (mistaken_games.py:"


def tournament(path, game, extra="opening_plies = 0"):
    path.write_text(
        f'games = [{{ game = "{GAMES}:{game}" }}, {{ game = "differences", options = {{ size = 3 }} }}]\n{extra}\n'
        f'[[entrants]]\nbot = "{BOTS}/minimal"\n[[entrants]]\nbot = "{BOTS}/minimal"\nname = "again"\n'
    )
    return path


@pytest.mark.slow
def test_a_run_plays_the_rest_and_names_each_mistake_once(arena, tmp_path):
    file = tournament(tmp_path / "t.toml", "ApplyRaises", "opening_plies = 0\nencounters = 2")
    (line,) = [line for line in told(arena, 1, "run", file, "--quiet").splitlines() if "no result" in line]
    assert line.startswith(f"arena: 4 matches have no result (the first is match 1): {AT_FAULT}")
    assert line.endswith(f"; arena check --rules {GAMES}:ApplyRaises tries out all its rules")
    code, out, _ = arena("matches", "t")
    assert (code, out.count("differences")) == (0, 4)
    assert " ".join(out.split()).count(f"4 matches have no result (the first is match 1): {AT_FAULT}") == 1
    _, out, _ = arena("stats", "t")
    assert f"4 matches have no result (the first is match 1): {AT_FAULT}" in " ".join(out.split())
    assert as_json(arena, "matches", "t")[0]["termination"] == "normal"
    assert arena("verify", "t")[0] == 0


def test_reasons_that_differ_only_in_values_are_one_sentence():
    raised = [GameError.raised("a:B", "apply", KeyError(value), "a") for value in (3, 4)]
    errors = [
        *raised,
        GameError("a:B", "scores", "returned 2 numbers for 3 seats: (0, 1)"),
        GameError("a:B", "scores", "returned 2 numbers for 3 seats: (1, 0)"),
        GameError("a:B", "apply", "raised KeyError: 3", "a.py:7"),
        GameError("a:B", "apply", "raised KeyError: 4", "a.py:7"),
        GameError("a:B", "apply", "raised KeyError: 4", "a.py:9"),
    ]
    reasons = dict(enumerate([*map(str, errors), "tries: 3", "tries: 4"], 1))
    start = "the game 'a:B' is at fault: "
    assert no_result_sentences(reasons) == [
        f"2 matches have no result (the first is match 1): {start}apply raised KeyError: 3",
        f"2 matches have no result (the first is match 3): {start}scores returned 2 numbers for 3 seats: (0, 1)",
        f"2 matches have no result (the first is match 5): {start}apply raised KeyError: 3 (a.py:7)",
        f"match 7 has no result: {start}apply raised KeyError: 4 (a.py:9)",
        "match 8 has no result: tries: 3",
        "match 9 has no result: tries: 4",
    ]


def test_a_mistake_in_the_opening_ends_the_run_before_it_begins(arena, tmp_path):
    file = tournament(tmp_path / "t.toml", "InitialStateRaises", "opening_plies = 2")
    sentence = refusal(arena, "run", file, "--quiet")
    assert "the game 'tests.mistaken_games:InitialStateRaises' is at fault: initial_state raised" in sentence


@pytest.mark.parametrize("name", ["ActionsAreAGenerator", "ApplyRefusesALegalAction", "NoActions"])
def test_legal_actions_are_checked_where_openings_are_drawn(arena, tmp_path, name):
    code, _, err = arena("schedule", tournament(tmp_path / "t.toml", name, "opening_plies = 6"))
    assert (code, err.count(f"the game '{GAMES}:{name}' is at fault")) == (2, 1)


@pytest.mark.parametrize(
    "name", ["ApplyRaises", "ThreeScores", "InitialStateRaises", "PrepareRaises", "ObservationHasATupleAsKey"]
)
def test_a_match_on_the_terminal_ends_with_the_sentence(arena, name):
    code, _, err = arena("play", f"{GAMES}:{name}", BOTS / "minimal", BOTS / "minimal")
    assert (code, err.count(f"the game '{GAMES}:{name}' is at fault")) == (2, 1)
    assert err.endswith(f"; arena check --rules {GAMES}:{name} tries out all its rules\n")


@pytest.mark.slow
def test_a_match_goes_on_without_a_board(arena, tmp_path):
    for name in ("RenderReturnsNothing", "RenderRaises"):
        code, out, _ = arena("play", f"{GAMES}:{name}", BOTS / "minimal", BOTS / "minimal")
        assert (code, "(no board: the game" in out, "score" in out) == (0, True, True)
    assert arena("run", tournament(tmp_path / "t.toml", name), "--quiet")[0] == 0
    assert "(no board: the game" in printed(arena, "replay", "t/1")
    assert arena("show", "minimal")[0] == 0
    assert arena("report", "t", "--output", tmp_path / "report.html")[0] == 0
    assert arena("verify", "t")[0] == 0


@pytest.mark.parametrize("command", [["games"], ["play", BOTS / "minimal", BOTS / "minimal"]])
def test_control_characters_of_a_game_are_shown_and_not_sent(arena, command):
    name, *bots = command
    code, out, _ = arena(name, f"{GAMES}:DrawsOnTheTerminal", *bots)
    assert (code, "\x1b" in out, r"\x1b[2Jsum 9" in out or r"\x1b[2Jsum 8" in out) == (0, False, True)


def test_a_game_shows_its_mistake_when_it_is_looked_at(arena):
    assert "initial_state raised RuntimeError: no board" in told(arena, 2, "games", f"{GAMES}:InitialStateRaises")
    for form in ((), ("--json",)):
        assert "is at fault: rulebook raised tests.m" in told(arena, 2, "games", f"{GAMES}:RulebookRaises", *form)
        assert "rulebook returned no text: None" in told(arena, 2, "games", f"{GAMES}:RulebookIsNoText", *form)


MUTE = "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\nraise Mute"
RAISING = {
    "script_game": ("import sys\nsys.exit('usage: script_game FILE')\n", "SystemExit: usage: script_game FILE", 2),
    "odd_exit": ("raise GeneratorExit", "GeneratorExit", 1),
    "odd_mute": (MUTE, "odd_mute.Mute: <exception str() failed>", 4),
}


@pytest.mark.parametrize("name", RAISING)
def test_a_module_may_raise_anything(arena, tmp_path, monkeypatch, name):
    code, raised, line = RAISING[name]
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    sentence = f"game '{name}:Game' can't be loaded: importing it raised {raised} ({name}.py:{line})"
    assert refusal(arena, "play", f"{name}:Game", BOTS / "minimal", BOTS / "minimal") == sentence


# matches that end at their limit of plies, in every command that shows them


@pytest.mark.slow
def test_a_tournament_of_a_game_without_end(arena, tmp_path):
    file = tmp_path / "t.toml"
    bots = "".join(f'[[entrants]]\nbot = "{BOTS}/minimal"\nname = "{name}"\n' for name in "ab")
    file.write_text(f'game = "{GAMES}:Endless"\nply_limit = 6\n{bots}')
    code, out, _ = arena("run", file, "--quiet")
    assert (code, "2 matches ended at the limit of plies, ranked by the scores as they stood." in out) == (0, True)
    rows = as_json(arena, "matches", "t")
    assert [(row["plies"], row["termination"], row["faults"]) for row in rows] == [(6, "adjudication", [])] * 2
    records = [json.loads(line) for line in arena("export", "t")[1].splitlines()]
    assert [(record["ply_limit"], record["ranks"]) for record in records] == [(6, [1, 1])] * 2
    code, out, _ = arena("verify", "t")
    assert code == 0, out
    assert arena("repro", "t/1")[0] == 0
    assert "ended at the limit of plies" in arena("standings", "t")[1]
    assert arena("report", "t", "--output", tmp_path / "report.html")[0] == 0
    assert "limit of plies" in (tmp_path / "report.html").read_text()
    file.write_text(file.read_text().replace("ply_limit = 6", "ply_limit = 8"))
    assert "differs in ply_limit" in refusal(arena, "run", file, "--quiet")
