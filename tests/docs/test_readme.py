"""README.md is executed: its bot plays, its tournament file runs, its Python works, its commands are those of CI."""

import json
import random
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from arena.cli.group import COMMANDS
from arena.games import GAMES, make_game

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def arena(*arguments, cwd):
    command = [sys.executable, "-m", "arena", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def prepared(directory):
    """A directory as the reader has it after following the page: the bot beside the shipped ones."""
    (directory / "bots").symlink_to(ROOT / "bots")
    (directory / "tournaments").symlink_to(ROOT / "tournaments")
    (directory / "my_bot.py").write_text(blocks("python")[0])
    return directory


def test_the_first_bot_plays_and_beats_random_legal(tmp_path):
    directory = prepared(tmp_path)
    shown = next(block for block in blocks("sh") if "arena play" in block).split()[1:]
    for rng_seed in range(3):
        result = arena(*shown, "--rng-seed", rng_seed, cwd=directory).splitlines()[-1]
        assert re.fullmatch(r"1\. my_bot@1 [\d.]+, 2\. random_legal@1 [\d.]+ \(normal\)", result)
    bot, tournament, _ = (block for block in blocks("toml"))
    assert tomllib.loads(bot)["command"] == ["python3", "my_bot.py"]
    (directory / "my_tournament.toml").write_text(tournament)
    arena("run", "my_tournament.toml", "-q", cwd=directory)
    rows = json.loads(arena("crosstable", "my_tournament", "--json", cwd=directory))
    assert [row["bot"] for row in rows][-1] in ("my_bot", "greedy")


def test_the_first_match_is_won_whatever_the_random_bot_draws():
    """The page's own bot and options, played by the rules alone."""
    own = {}
    source = blocks("python")[0].replace("from arena.botkit import run\n", "").replace("run(choose)\n", "")
    exec(compile(source, "my_bot.py", "exec"), own)
    command = next(block for block in blocks("sh") if "arena play" in block)
    name = command.split()[2]
    options = {key: int(value) for key, value in re.findall(r"-o (\w+)=(\d+)", command)}
    for seed in range(100):
        draw = random.Random(seed)
        game = make_game(name, **options)
        state = game.initial_state()
        while (seat := game.seat_to_act(state)) is not None:
            action = own["choose"](game, state, None) if seat == 0 else draw.choice(list(game.legal_actions(state)))
            state = game.apply(state, action)
        assert game.ranks(state) == (1, 2), f"seed {seed}"


def test_the_settings_on_the_page_are_accepted(tmp_path):
    directory = prepared(tmp_path)
    _, tournament, settings = blocks("toml")
    level, _, tables = settings.partition("\n")
    merged = re.sub(r"\[time_control\]\n.*\n", "", tournament).replace("encounters = 10", "encounters = 1")
    before, _, entrants = merged.partition("[[entrants]]")
    level = level.replace('"landlock"', '"auto"')  # which levels there are depends on the machine
    (directory / "t.toml").write_text(f"{before}\n{level}\n{tables}\n[[entrants]]{entrants}")
    arena("run", "t.toml", "-q", cwd=directory)


def test_the_bot_can_be_submitted_as_the_page_says(tmp_path):
    directory = prepared(tmp_path)
    (directory / "my_bot").mkdir()
    (directory / "my_bot" / "my_bot.py").write_text(blocks("python")[0])
    (directory / "my_bot" / "bot.toml").write_text(blocks("toml")[0])
    assert "my_bot@1 is submitted" in arena("submit", "my_bot", cwd=directory)
    arena("play", "differences", "my_bot", "my_bot@1", "-q", cwd=directory)


def test_the_python_example_runs(tmp_path):
    directory = prepared(tmp_path)
    (directory / "script.py").write_text(blocks("python")[1])
    done = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, cwd=directory, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 mcts ")


def test_there_are_two_commands_and_ci_runs_the_second():
    first, second = blocks("sh")[:2]
    assert first.strip().endswith(".venv/bin/arena run tournaments/quickstart.toml")
    assert second.strip().endswith(".venv/bin/pytest")
    assert second.strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_command_is_in_the_list():
    table = README[README.index("## Commands") : README.index("## From Python")]
    assert set(re.findall(r"`arena (\w+)", table)) == set(COMMANDS)


def test_the_picture_shows_the_table_as_it_is(tmp_path):
    """The standings in docs/quickstart.svg come out of the tournament again."""
    picture = (ROOT / "docs" / "quickstart.svg").read_text(encoding="utf-8")
    text = arena("run", ROOT / "tournaments" / "quickstart.toml", "-q", cwd=tmp_path)
    lines = text.split("\n\n")[0].splitlines()
    assert len(lines) == 6
    for line in lines:
        assert f">{escape(line)}</text>" in picture
    heading = next(line for line in README.splitlines() if line.startswith("rank "))
    assert heading.split() == lines[0].split()


def test_every_shipped_tournament_file_is_accepted():
    from arena.tournament.definition import load_definition
    from arena.tournament.schedule import schedule

    names = set()
    for path in (ROOT / "tournaments").glob("*.toml"):
        definition = load_definition(path)
        names.add(definition.name)
        assert next(iter(schedule(definition))).match == 1
    assert names == {path.stem for path in (ROOT / "tournaments").glob("*.toml")}
    assert names >= {"quickstart", "three_players", "all_games", *GAMES}


def test_the_code_map_names_every_room():
    design = (ROOT / "arena" / "DESIGN.md").read_text(encoding="utf-8")
    for path in (ROOT / "arena").iterdir():
        if path.is_dir() and path.name != "__pycache__":
            assert f"`{path.name}/`" in design
        elif path.suffix == ".py" and not path.name.startswith("__"):
            assert f"`{path.name}`" in design
    for path in (ROOT / "arena").rglob("*.py"):
        room = path.parent.name
        if room in ("players", "ratings", "match") and path.name not in ("__init__.py", "player.py"):
            assert path.name in design


@pytest.mark.skipif(shutil.which("rustc") is None, reason="there is no Rust here")
def test_a_bot_in_another_language_passes_the_check_as_it_is(tmp_path):
    begin = next(block for block in blocks("sh") if "arena new" in block).split()
    arena(*begin[1:], cwd=tmp_path)
    assert "All 11 steps passed." in arena("check", begin[2], "--game", "differences", cwd=tmp_path)
