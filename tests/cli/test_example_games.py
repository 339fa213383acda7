"""A game of a single file, of a kind the five are not, taken through every command of the arena."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.command_table import COMMANDS
from tests.cli.calls import calling

WITHOUT_A_GAME = {
    "quickstart", "protocol", "completion", "doctor", "serve", "backup", "people", "challenge", "login", "logout",
    "units", "ladder", "contest", "lab",
}  # fmt: skip
"""Commands that play the games of the package, or none, or that do not end by themselves."""

GAME, FLAGS = "reversi:Reversi", "-o players=3 -o size=6"
UNDECIDED = 3

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

NO_MODULE = "can't be loaded: there is no module 'far_hex' in the working directory, in PYTHONPATH or installed\n"

TOURNAMENT = f"""
name = "t"
game = "{GAME}"
options = {{ players = 3, size = 6 }}
encounters = 1
isolation = "none"
""" + "".join(f'[[entrants]]\nbot = "{bot}"\n' for bot in ("made", "arena:random_legal", "arena:greedy"))

EVERY_COMMAND = """
games {game}                                                > An action:
check --rules {game} {flags} --within 1s                    > steps passed.
new made --language python-plain --game {game}              > made: a bot in
check made --game {game} --isolation none                   > steps passed.
submit made --game {game}                                   > made@1 is submitted
submit made --game {game}                                   > already submitted
bots                                                        > made
play {game} made arena:greedy arena:random_legal {flags} --isolation none --quiet     > (normal)
schedule t.toml                                             > {game}
run t.toml --workers 1 --quiet                              > matches. Seat 0 scores
extend t --encounters 2 --workers 1 --quiet                 > matches. Seat 0 scores
standings t                                                 > greedy
crosstable t                                                > points
rounds t                                                    > round 1
stats t                                                     > Time used.
grades t                                                    > played
matches t                                                   > {game}
replay t/1                                                  > (normal)
show greedy                                                 > {game}
leaderboard {game}                                          > greedy
repro t/1 --isolation none                                  > The same as recorded.
report t --output t.html                                    > t.html
publish t pages                                             > pages
verify pages --external-game {game}                         > hold
plot t --kind ratings --output t.svg                           > t.svg
verify t                                                    > all records hold
export t                                                    > "{game}"
export t --whole                                            > "definition"
import whole.jsonl --name again --external-game {game}      > again
season s --add t                                            > s
seasons                                                     > s
void t 1 --reason fan                                       > 1
undo t --reason no                                          > 1
enter t arena:minimal --reason late                        > minimal
withdraw t minimal --reason ill                            > minimal
disqualify t random_legal --reason copied                   > random_legal
replace t made made --args x --reason corrected             > made
corrections t                                               > copied
compare arena:greedy arena:random_legal --game {game} --max-encounters 1 --workers 1 --quiet --name c  > greedy
tune arena:random_legal --game {game} --param a=1..2 --encounters 1 --test-encounters 8 --rounds 1 -q  > start
rename t u                                                  > u
delete u --yes                                                  > u
restore u                                                   > u
tournaments                                                 > finished
merge other t --external-game {game}                        > new here
"""


@pytest.mark.slow
def test_a_game_goes_through_every_command(tmp_path, monkeypatch, arena):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("t.toml").write_text(TOURNAMENT)
    used = set()
    for line in EVERY_COMMAND.format(game=GAME, flags=FLAGS).strip().splitlines():
        command, _, message = line.partition(" > ")
        words = shlex.split(command)
        code, out, err = arena(*words)
        code = 0 if (words[0], code) in (("compare", UNDECIDED), ("tune", UNDECIDED)) else code
        assert (code, message.strip() in out) == (0, True), f"{words}: {code}\n{out}\n{err}"
        used.add(words[0])
        if words == ["export", "t", "--whole"]:
            Path("whole.jsonl").write_text(out)
            shutil.copytree("home", "other")
    assert used == set(COMMANDS) - WITHOUT_A_GAME


def test_the_kit_of_an_external_game_is_tried_out_as_its_readme_says(tmp_path, monkeypatch, capsys):
    """In the bot's own directory, where the game is not."""
    games = tmp_path / "my games"
    games.mkdir()
    (games / "far_hex.py").write_text((EXAMPLES / "hex.py").read_text())
    monkeypatch.syspath_prepend(str(games))
    monkeypatch.chdir(tmp_path)
    code, _, err = calling(tmp_path / "home", capsys)("new", "made", "--language", "python", "--game", "far_hex:Hex")
    assert code == 0, err
    (line,) = (line for line in Path("made/README.md").read_text().splitlines() if "export PYTHONPATH" in line)
    test = f"{shlex.quote(sys.executable)} test_bot.py"
    for commands, expected in ((f"{line}\n{test}", (0, "")), (test, (1, NO_MODULE))):
        bare = {"PATH": "/usr/bin:/bin"}
        done = subprocess.run(commands, shell=True, cwd="made", env=bare, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.removeprefix("test_bot.py: game 'far_hex:Hex' ")) == expected
