import json
import random
import re
import tomllib
from xml.sax.saxutils import escape

import pytest

from arena.cli.command_table import COMMANDS, NOUNS
from arena.games import GAMES, make_game
from arena.tournament.definition import load_definition
from arena.tournament.schedule import schedule
from tests import needs
from tests.conftest import ROOT
from tests.docs.reader import BARE_PATH

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def pasted(reader, tmp_path):
    """Run commands where the reader stands: in a directory of their own, with the bot of the page in it."""
    (tmp_path / "my_bot.py").write_text(blocks("python")[0])

    def paste(block):
        done = reader.paste(block, tmp_path)
        assert done.returncode == 0, done.stdout
        return done.stdout

    return paste


@pytest.mark.slow
def test_the_first_bot_plays_and_beats_random_legal(pasted, tmp_path):
    shown = next(block for block in blocks("sh") if "arena play" in block).strip()
    result = pasted(f"{shown} --rng-seed 1").splitlines()[-1]
    assert re.fullmatch(r"1\. my_bot@1 [\d.]+, 2\. random_legal@1 [\d.]+ \(normal\)", result)
    bot, tournament, _ = (block for block in blocks("toml"))
    assert tomllib.loads(bot)["command"] == ["python3", "my_bot.py"]
    (tmp_path / "my_tournament.toml").write_text(tournament)
    pasted(next(block for block in blocks("sh") if "arena run my_tournament.toml" in block))
    rows = json.loads(pasted("arena tournament crosstable my_tournament --json"))
    assert [row["bot"] for row in rows][-1] in ("my_bot", "greedy")


@pytest.mark.slow
def test_the_first_match_is_won_whatever_the_random_bot_draws():
    """The page's own bot and options, played by the rules alone."""
    own = {}
    source = blocks("python")[0].replace("from arena.botkit import run\n", "").replace("run(choose)\n", "")
    exec(compile(source, "my_bot.py", "exec"), own)
    command = next(block for block in blocks("sh") if "arena play" in block)
    name = command.split()[2]
    options = {key: int(value) for key, value in re.findall(r"-o (\w+)=(\d+)", command)}
    for seed in range(30):
        draw = random.Random(seed)
        game = make_game(name, **options)
        state = game.initial_state()
        while (seat := game.seat_to_act(state)) is not None:
            action = own["choose"](game, state, None) if seat == 0 else draw.choice(list(game.legal_actions(state)))
            state = game.apply(state, action)
        assert game.ranks(state) == (1, 2), f"seed {seed}"


def test_the_settings_on_the_page_are_accepted(tmp_path):
    _, tournament, settings = blocks("toml")
    level, _, tables = settings.partition("\n")
    merged = re.sub(r"\[time_control\]\n.*\n", "", tournament).replace("encounters = 10", "encounters = 1")
    before, _, entrants = merged.partition("[[entrants]]")
    level = level.replace('"landlock"', '"auto"')  # which levels there are depends on the machine
    (tmp_path / "t.toml").write_text(f"{before}\n{level}\n{tables}\n[[entrants]]{entrants}")
    (tmp_path / "my_bot.py").write_text(blocks("python")[0])
    assert load_definition(tmp_path / "t.toml").encounters == 1


@pytest.mark.slow(sample=True)
def test_the_bot_can_be_submitted_as_the_page_says(pasted, tmp_path):
    (tmp_path / "my_bot").mkdir()
    (tmp_path / "my_bot" / "my_bot.py").write_text(blocks("python")[0])
    (tmp_path / "my_bot" / "bot.toml").write_text(blocks("toml")[0])
    assert "my_bot@1 is submitted" in pasted("arena submit my_bot")
    pasted("arena play differences my_bot my_bot@1 -q")


def test_there_are_two_commands_and_a_third_and_ci_runs_the_second_before_the_environment_is_made_active():
    first, second, third, activate = blocks("sh")[:4]
    assert activate == ". .venv/bin/activate\n"
    assert first.strip().endswith(".venv/bin/arena run tournaments/quickstart.toml")
    assert second.strip().endswith(".venv/bin/pytest")
    assert third.strip().endswith(".venv/bin/arena serve --open")
    assert second.strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_command_is_in_the_list():
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    rows = "\n".join(re.findall(r"^\| (`arena.*?) \|", page, re.MULTILINE))
    plain = {f"{noun} {spelling}": name for noun, one in NOUNS.items() for spelling, name in one.commands.items()}
    found = re.findall(rf"`arena ((?:(?:{'|'.join(NOUNS)}) )?\w+)", rows)
    assert {plain.get(name, name) for name in found} == set(COMMANDS)


@pytest.mark.slow
def test_the_python_example_runs_and_the_picture_shows_its_table_as_it_is(pasted, tmp_path):
    """The standings in docs/quickstart.svg come out of the tournament again."""
    (tmp_path / "script.py").write_text(blocks("python")[1])
    assert re.search("^1 mcts ", pasted("python3 script.py"), re.MULTILINE)  # after a warning about busy cores
    picture = (ROOT / "docs" / "quickstart.svg").read_text(encoding="utf-8")
    verdict, table = pasted("arena run arena:quickstart -q --home my-arena").split("\n\n")[:2]
    lines = table.splitlines()
    assert len(lines) == 6
    for line in (verdict, *lines):
        assert f">{escape(line)}</text>" in picture
    assert picture.count('xml:space="preserve" style="white-space: pre"') == picture.count("<text ") == 8
    assert next(line for line in README.splitlines() if line.startswith("rank ")).split() == lines[0].split()


def test_every_shipped_tournament_file_is_accepted():
    names = set()
    for path in (ROOT / "tournaments").glob("*.toml"):
        definition = load_definition(path)
        names.add(definition.name)
        assert next(iter(schedule(definition))).match == 1
    assert names == {path.stem for path in (ROOT / "tournaments").glob("*.toml")}
    assert names >= {"quickstart", "three_players", "all_games", *GAMES}


@pytest.mark.slow
@needs.program("rustc", path=BARE_PATH)
def test_a_bot_in_another_language_passes_the_check_as_it_is(pasted):
    begin = next(block for block in blocks("sh") if "arena new" in block)
    pasted(begin)
    assert "All 12 steps passed." in pasted(f"arena check {begin.split()[2]} --game differences")
