import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

from arena.base.records import MatchSpec, TimeControl
from arena.cli.group import run
from arena.games import GAMES, make_game
from arena.kits.languages import LANGUAGES
from arena.match.bot_pool import BotPool
from arena.match.players.building import build_bots
from arena.match.players.manifest import load_bot
from arena.protocol.frames import MAX_BYTES_TO_BOT, decode_body, encode_frame
from arena.protocol.messages import Request, Seating, act, hello, match, read_action, read_ready
from arena.sandbox.isolation.levels import choose_isolation
from tests.conftest import ROOT

ARENA = [sys.executable, "-m", "arena"]
TEMPLATES = ROOT / "arena" / "kits" / "templates"
THERE = [name for name, kit in LANGUAGES.items() if all(shutil.which(tool) for tool in kit.tools)]
QUICK = ("python", "python-plain", "c")
EACH = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.soak, id=name) for name in LANGUAGES]
MAIN_LINES, CODEC_LINES = 70, 220


def arena(*arguments):
    return subprocess.run([*ARENA, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


def new(*arguments):
    return run(["new", *map(str, arguments)])


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    base = tmp_path_factory.mktemp("kits")

    def kit(name):
        if missing := [tool for tool in LANGUAGES[name].tools if shutil.which(tool) is None]:
            pytest.skip(f"needs {' and '.join(missing)}")
        directory = base / f"bot-{name}"
        if not directory.exists():
            assert new(directory, "--language", name) == 0
        return directory

    return kit


@pytest.mark.slow(sample=("python-plain",))
@pytest.mark.parametrize("name", EACH)
def test_a_new_bot_passes_the_check_at_once(kit, name, tmp_path):
    done = arena("check", kit(name), "--home", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All 40 steps passed." in done.stdout


def rustup_home():
    program = Path(shutil.which("rustc") or "/").resolve()
    home = program.parents[2] / ".rustup" if program.name == "rustup" else None
    is_elsewhere = home is not None and home.is_dir() and not (Path.home() / ".rustup").is_dir()
    return {"RUSTUP_HOME": str(home)} if is_elsewhere and "RUSTUP_HOME" not in os.environ else {}


@pytest.mark.parametrize("name", EACH)
def test_its_codec_agrees_with_the_golden_frames_and_its_test_can_fail(kit, name):
    directory = kit(name)

    def run_test():
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"} | rustup_home()
        options = {"shell": True, "cwd": directory, "env": environment, "capture_output": True, "text": True}
        return subprocess.run(LANGUAGES[name].test, check=False, **options)

    done = run_test()
    assert done.returncode == 0, done.stdout + done.stderr
    golden = directory / "golden_frames.txt"
    good = golden.read_text()
    for there, other in (("31.0625", "31.0626"), ("cb3fe0000000000000", "ca3f000000")):
        assert there in good
        golden.write_text(good.replace(there, other, 1))
        assert run_test().returncode != 0, f"{there} -> {other} goes unnoticed"
    golden.write_text(good)


@pytest.mark.soak
def test_a_number_of_javascript_beyond_its_whole_ones_travels_as_a_float(kit):
    code = 'process.stdout.write(require("./wire.js").encode([1e20, -(2 ** 53), 2 ** 53 - 1, 2n ** 63n]))'
    done = subprocess.run(["node", "-e", code], cwd=kit("javascript"), capture_output=True, check=True)
    numbers = msgpack.unpackb(done.stdout)
    assert numbers == [1e20, -(2.0**53), 2**53 - 1, 2**63]
    assert [type(number) for number in numbers] == [float, float, int, int]


def golden_frames():
    lines = (TEMPLATES / "golden_frames.txt").read_text().splitlines()
    return [line.split(" ", 2) for line in lines if line and line[0] != "#"]


def test_the_golden_frames_are_what_the_arena_and_an_independent_msgpack_say():
    frames = golden_frames()
    assert len(frames) >= 19
    for name, hexadecimal, text in frames:
        frame = bytes.fromhex(hexadecimal)
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4, name
        assert decode_body(frame[4:]) == json.loads(text) == msgpack.unpackb(frame[4:]), name
    values = {name: json.loads(text) for name, _, text in frames}
    read_ready(values["ready"])
    assert read_action(values["action_note"], 65536)[0] == ["h", 12]
    numbers = set(values["integers"]["numbers"]) | set(values["negatives"]["numbers"])
    for bits in (7, 8, 15, 16, 31, 32, 63):  # both sides of each limit where msgpack changes the size
        assert {2**bits - 1, -(2 ** (bits if bits in (7, 15, 31, 63) else bits - 1))} <= numbers


@pytest.mark.soak
def test_all_languages_play_each_other_in_a_tournament(kit, tmp_path):
    entrants = "".join(f'[[entrants]]\nbot = "{kit(name)}"\n' for name in THERE)
    file = tmp_path / "languages.toml"
    file.write_text(
        'game = "differences"\noptions = {size = 4}\nformat = "round-robin"\nencounters = 1\nopening_plies = 1\n'
        f"rng_seed = 3\n[time_control]\nper_action_seconds = 5.0\n{entrants}"
    )
    done = arena("run", file, "-q", "--json", "--home", tmp_path / "home")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == len(THERE) > 1
    assert {row["matches"] for row in rows} == {2 * (len(THERE) - 1)}
    assert all(row["faults"] == "" or not row["faults"] for row in rows)
    assert arena("verify", "--home", tmp_path / "home").returncode == 0


@pytest.mark.soak
def test_the_same_seed_gives_the_same_match_in_every_language(kit):
    """All kits but the botkit's draw from the same generator, so they must choose alike, from large seeds too."""
    rules = make_game("plaid", lines=8)
    level = choose_isolation("auto")
    matches = {}
    with BotPool(level) as pool:
        for name in THERE:
            bot = load_bot(kit(name))
            build_bots([bot], level)
            choices = {"game": "plaid", "options": rules.options, "rng_seed": 2**63 - 25}
            control = TimeControl(per_action_seconds=5.0)
            record = pool.play(MatchSpec(match=1, tournament="", bots=(bot, bot), time_control=control, **choices))
            assert record.faults == ()
            matches[name] = record.actions
    del matches["python"]
    assert all(actions == matches["python-plain"] for actions in matches.values())


@pytest.mark.parametrize("name", EACH)
def test_it_reads_as_many_values_as_a_message_can_have_and_ends_quietly_wherever_the_input_ends(kit, name):
    bot = load_bot(kit(name))
    build_bots([bot], choose_isolation("auto"))

    def answers(data):
        done = subprocess.run(bot.command, cwd=bot.directory, input=data, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    seating = Seating(1, "differences", {"size": 4}, 2, 0, 5, TimeControl(per_action_seconds=5.0))
    question = act(1, Request(0, [], 5.0, None, 0.1, {"many": [0] * (MAX_BYTES_TO_BOT - 200)}, [[1, 1]]))
    frames = [encode_frame(message) for message in (hello("1"), match(seating), question)]
    assert MAX_BYTES_TO_BOT - 200 < len(frames[2]) < MAX_BYTES_TO_BOT
    ready = answers(frames[0])
    answer = answers(b"".join(frames))[len(ready) :]
    assert len(read_action(decode_body(answer[4:]), 0)[0]) == 2
    for length in (1, 4, 5, len(frames[0]) - 1):
        assert answers(frames[0][:length]) == b""
        assert answers(frames[0] + frames[1][:length]) == ready


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_kit_is_short_enough_to_be_read(name):
    main = (TEMPLATES / name / LANGUAGES[name].main).read_text()
    assert len(main.splitlines()) <= MAIN_LINES
    assert main.count("YOUR IDEA GOES HERE") == 1
    for codec in (TEMPLATES / name).glob("[wW]ire.*"):
        assert len(codec.read_text().splitlines()) <= CODEC_LINES


@pytest.mark.parametrize("name", GAMES)
def test_a_bot_for_one_game_says_so_and_its_readme_names_the_rules_and_what_is_mine(name, tmp_path):
    assert new(tmp_path / "one", "-l", "c", "--game", name) == 0
    assert f'games = ["{name}"]' in (tmp_path / "one" / "bot.toml").read_text()
    readme = (tmp_path / "one" / "README.md").read_text()
    assert [game for game in GAMES if make_game(game).summary in readme] == [name]
    assert f"Rules: `arena games {name}` prints them" in readme
    assert f"Yours: {make_game(name).mine}" in readme
    assert "`seat` in `match`" in readme


@pytest.mark.parametrize(
    ("name", "options", "parts"),
    [
        ("taken", (), ("taken", "exists")),
        ("x", ("--language", "cobol"), ("'cobol'", "rust")),
        ("x", ("--language", "jav"), ("'jav'", "did you mean 'java'")),
        ("x", ("--language", "go"), ("'go'", "is not installed", "apt install golang-go")),
        ("x", ("--game", "plad"), ("'plad'", "plaid")),
        ('quo"te', (), ("quotes",)),
        ("a@b", (), ("a@b",)),
        ("file/x", (), ("can't be written", "x")),
    ],
)
def test_bad_input_is_answered_with_one_sentence(tmp_path, monkeypatch, capsys, name, options, parts):
    monkeypatch.setenv("PATH", str(tmp_path))  # where no toolchain is
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "bot.py").touch()
    (tmp_path / "file").touch()
    assert new(tmp_path / name, *options) == 2
    out, errors = capsys.readouterr()
    assert (out, errors.count("\n"), errors.startswith("arena: ")) == ("", 1, True)
    assert all(part in errors for part in parts)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]
