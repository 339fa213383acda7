import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest

from arena.cli.command_table import COMMANDS
from arena.games import find_game
from arena.games.conformance.calls import guarded, time_limits
from arena.games.conformance.finding import MistakeError
from arena.match.check import rules_process
from arena.sandbox.isolation.reaper import remove_stale
from tests.cli.calls import called, calling, refusal, shown
from tests.conftest import ROOT

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

MODULES = {
    "prints": 'from arena.games.differences import Differences as Game\nprint("welcome\\x1b[2J")\n',
    "exits": 'import sys\nsys.exit("usage: exits.py SIZE")\n',
    "reads": 'name = input("your name? ")\n',
    "broken": "class Game(:\n    pass\n",
    "kills": "import os\nos._exit(3)\n",
    "empty": "import arena.games\n\nclass Gama(arena.games.Game):\n    pass\n\nGame = 3\n",
    "crash": "import ctypes\nctypes.string_at(0)\n",
    "interrupts": "raise KeyboardInterrupt\n",
    "answers": """import os
place = os.readlink("/proc/self/fd/1").rpartition("/")[0]
with open(place + "/answer", "wb") as file:
    file.write(b"cos\\nsystem\\n(S'touch unpickled'\\ntR.")
os._exit(0)
""",
}
"""Modules that are no rules, by their names."""

REFUSED = [
    ("prints:Game", "game 'prints:Game' can't be used: its module prints 'welcome\\x1b[2J' when it is imported"),
    ("exits:Game", "'exits:Game' can't be loaded: importing it raised SystemExit: usage: exits.py SIZE (exits.py:2)"),
    ("reads:Game", "'reads:Game' can't be loaded: importing it raised EOFError: EOF when reading a line (reads.py:1)"),
    ("broken:Game", "game 'broken:Game' can't be loaded: SyntaxError: invalid syntax ("),
    ("interrupts:Game", "can't be loaded: importing it raised KeyboardInterrupt (interrupts.py:1)"),
    ("kills:Game", "the game 'kills:Game' is at fault: its module ended the process that checked it, with exit code 3"),
    ("crash:Game", "the game 'crash:Game' is at fault: its module ended the process that checked it, by SIGSEGV"),
    ("answers:Game", "the game 'answers:Game' is at fault: its module wrote into the files of the process that"),
    ("empty:Gam", "game 'empty:Gam' can't be loaded: its module has no class 'Gam'; did you mean 'Gama'?"),
    ("empty:Game", "game 'empty:Game' is not a subclass of arena.games.Game"),
    ("empty:Gama", "game 'empty:Gama' lacks apply, format_action,"),
    ("space.domineering:Domineering", "bots can't read the module 'space', which has no file of its own"),
]
"""Games that can't be checked, and what is said of them."""


@pytest.fixture
def arena_here(capfd, monkeypatch, tmp_path):
    monkeypatch.setenv("ARENA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    return partial(called, capfd)


@pytest.mark.slow
def test_a_mistake_is_shown_with_its_line_of_play(arena_here):
    code, out, errors = arena_here("check", "--rules", "tests.games.planted:ApplyRaises", "-o", "players=3")
    assert (code, errors) == (1, "")
    failed = out[out.index("FAILED") :].splitlines()
    source = (ROOT / "tests" / "games" / "planted.py").read_text().splitlines()
    (line,) = (number for number, text in enumerate(source, 1) if '["missing"]' in text)
    assert failed[:5] == [
        "FAILED  accepts every legal action: apply raised KeyError: 'missing'",
        f"             (planted.py:{line})",
        "     after:     a1, c1",
        "     actions:   [[1, 1], [3, 1]]",
        "     options:   players = 3, size = 4, scoring = 'all'",
    ]
    assert "passed\nThe mistakes are in the game tests.games.planted:ApplyRaises. More may show once\n" in out
    assert "in the processes of bots" not in out


@pytest.mark.slow(sample=[game for game, _ in REFUSED[::4]])
@pytest.mark.parametrize(("game", "message"), REFUSED, ids=[game for game, _ in REFUSED])
def test_what_can_not_be_checked_is_refused_in_one_sentence(arena_here, tmp_path, game, message):
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "space").mkdir()
    shutil.copy(EXAMPLES / "domineering.py", tmp_path / "space")
    sentence = refusal(arena_here, "check", "--rules", game)
    assert message in sentence
    assert "\x1b" not in sentence


def test_what_rules_write_to_stderr_is_bounded_and_escaped(arena_here, tmp_path):
    (tmp_path / "loud.py").write_text(
        "import os, sys\nsys.stderr.write('first \\x1b[2J\\n')\nos.write(2, b'x' * 79 + b'\\n')\n"
        "sys.stderr.write('many\\n' * 1_000_000)\nsys.stderr.write('last \\a\\n')\nweights = {}['heavy']\n"
    )
    code, out, errors = arena_here("check", "--rules", "loud:Game")
    assert (code, out) == (2, "")
    *stderr_lines, sentence = errors.splitlines()
    assert stderr_lines[:3] == ["stderr of the rules of loud:Game:", "  first \\x1b[2J", f"  {'x' * 79}"]
    assert (stderr_lines[13], stderr_lines[-1], len(stderr_lines)) == ("  [...]", "  last \\x07", 26)
    assert "importing it raised KeyError: 'heavy' (loud.py:" in sentence


def test_what_the_rules_have_started_ends_with_the_check(arena_here, tmp_path):
    text = "import subprocess\nnumber = subprocess.Popen(['sleep', '600']).pid\nraise ValueError(number)\n"
    (tmp_path / "starts.py").write_text(text)
    number = re.search(r"ValueError: (\d+) ", refusal(arena_here, "check", "--rules", "starts:Game"))[1]
    state = Path(f"/proc/{number}/stat")
    while state.exists() and state.read_text().split()[2] != "Z":  # the test's time limit ends the wait
        time.sleep(0.01)


@pytest.mark.slow
def test_a_check_that_is_killed_leaves_nothing_after_the_next_start(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "waits.py").write_text("print('here')\nwhile True:\n    pass\n")
    checking = subprocess.Popen([sys.executable, "-m", "arena", "check", "--rules", "waits:Game"], cwd=tmp_path)
    while not (found := [*tmp_path.glob("arena-rules-*/printed")]) or not found[0].stat().st_size:
        assert checking.poll() is None
        time.sleep(0.01)
    checking.kill()
    checking.wait()
    remove_stale()
    assert not [*tmp_path.glob("arena-rules-*")]


def test_an_import_that_is_out_of_time_is_called_so(tmp_path, monkeypatch):
    (tmp_path / "endless_game.py").write_text("while True:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    with time_limits(), pytest.raises(MistakeError) as raised:
        guarded(lambda: find_game("endless_game:Game"), "importing it", "endless_game", 0.01)
    assert (raised.value.sentence, raised.value.is_timeout) == ("importing it did not return within 0.01 s", True)


IN_C = "sum(range(10**13))"
CATCHING_ALL = """while True:
            try:
                sum(range(10**7))
            except:
                pass"""


@pytest.mark.slow
@pytest.mark.parametrize("stuck", [IN_C, CATCHING_ALL])
def test_a_call_that_can_not_be_interrupted_is_named_with_its_place(arena_here, tmp_path, monkeypatch, stuck):
    text = (EXAMPLES / "domineering.py").read_text()
    text = text.replace('"""Return 1 for the winner', f'{stuck}\n        """Return 1 for the winner')
    (tmp_path / "stuck.py").write_text(text)
    line = next(number for number, line in enumerate(text.splitlines(), 1) if "sum(range(10**" in line)
    monkeypatch.setattr(rules_process, "STALL_SECONDS", 3.0)
    assert refusal(arena_here, "check", "--rules", "stuck:Domineering") == (
        "the game 'stuck:Domineering' is at fault: scores did not return within 3 s, and can't be interrupted"
        f" (stuck.py:{line})"
    )


def words_of_failure(arena, path, text, size):
    path.write_text(text)
    out = shown(arena, 1, "check", "--rules", f"{path.stem}:Domineering", "-o", f"width={size}", "-o", f"height={size}")
    return " ".join(out[out.index("FAILED") :].split())


@pytest.mark.slow
def test_an_order_that_differs_from_process_to_process_is_found(arena_here, tmp_path):
    text = (EXAMPLES / "domineering.py").read_text()
    text = text.replace(
        "        return self._places(state)\n",
        "        places = self._places(state)\n"
        "        names = {f'{x} {y}': (x, y) for x, y in places}\n"
        "        return [names[name] for name in set(names)] if state.covered else places\n",
    )
    words = words_of_failure(arena_here, tmp_path / "unordered.py", text, 3)
    assert words.startswith("FAILED answers the same in every process: legal_actions returned [(")
    assert re.search(r" after: ([abc][123]) actions: \[\[[123], [123]\]\] options: ", words)
    assert " in another process; expected answers that depend on nothing but options and actions" in words


@pytest.mark.slow
def test_what_only_bots_see_otherwise_is_found(arena_here, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/")
    text = (EXAMPLES / "domineering.py").read_text().replace("import annotations", "import annotations\nimport os")
    text = text.replace("            return (0, 0)", "            return (len(os.environ['HOME']), 0)")
    words = words_of_failure(arena_here, tmp_path / "reads_home.py", text, 2)
    assert words.startswith("FAILED is the same in the processes of bots: at ply 0 scores returned (1, 0), and some")


RULES = ["--rules", "options:Domineering"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*RULES, "-o", "wide=3"], "wide = '3': domineering has no such option; did you mean 'width'?"),
        ([*RULES, "-o", "width"], "--option 'width': expected NAME=VALUE, such as size=9"),
        ([*RULES, "arena:greedy"], "--rules checks the rules of one game, without the bot 'arena:greedy'"),
        ([*RULES, "--game", "plaid"], "--rules checks the rules of one game, without --game"),
        (["arena:greedy", "--within", "9"], "--within 9s: expected only together with --rules"),
        ([], "arena check: expected a bot, or the rules of a game: --rules module:Class"),
        (["arena:greedy", "-o", "size=3"], "--option size=3: expected only together with --rules"),
    ],
)
def test_wrong_options_are_refused(arena_here, tmp_path, arguments, message):
    shutil.copy(EXAMPLES / "domineering.py", tmp_path / "options.py")
    assert message in refusal(arena_here, "check", *arguments)


WITHOUT_A_GAME = {
    "quickstart", "protocol", "completion", "doctor", "serve", "backup", "people", "challenge", "login", "logout",
    "units", "ladder", "contest", "lab",
}  # fmt: skip
"""Commands that play the games of the package, or none, or that do not end by themselves."""

GAME, FLAGS = "reversi:Reversi", "-o players=3 -o size=6"
UNDECIDED = 3


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
