import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import UsageError
from arena.match.players.manifest import load_bot
from arena.tournament.definition import load_definition
from tests.conftest import BOTS, ROOT

needs_atheris = pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="needs atheris")


@needs_atheris
@pytest.mark.parametrize(
    "seconds", [pytest.param(5, marks=pytest.mark.slow(sample=True)), pytest.param(120, marks=pytest.mark.soak)]
)
def test_the_wire_stands_so_many_seconds_of_fuzzing(seconds):
    program = str(Path(__file__).with_name("fuzz_wire.py"))
    command = [sys.executable, program, f"-max_total_time={seconds}", "-verbosity=0"]
    with tempfile.TemporaryDirectory() as directory:  # where it keeps the input that broke something
        command.append(f"-artifact_prefix={directory}/")
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


FORMATS = (
    'format = "round-robin"\nencounters = 2\n[round_robin]\n',
    'format = "swiss"\n[swiss]\nrounds = 1\ntie_breaks = ["BH", "DE"]\n',
    'format = "knockout"\n[knockout]\nseeding = "random"\ntie_encounters = 2\n',
    'format = "ladder"\n[ladder]\nmatches = 10\nmargin_95 = 1.5\nhours = 0.5\n',
    'format = "gauntlet"\n[gauntlet]\nchallengers = ["a"]\n',
)
TOURNAMENT = f"""
name = "fuzzed"
game = "differences"
options = {{ size = 8 }}
opening_plies = 2
rng_seed = 7
isolation = "none"
fresh_bots = false
workers = 2
FORMAT
[time_control]
per_action_seconds = 1.0
bank_seconds = 10
clock = "wall"
[limits]
memory_bytes = "512 MiB"
processes = 64
[[entrants]]
bot = "{BOTS / "minimal"}"
name = "a"
args = ["x"]
[[entrants]]
bot = "{BOTS / "greedy"}"
"""

BOT = 'name = "x"\nversion = "1"\ncommand = ["python3", "bot.py"]\ngames = ["plaid"]\nbuild = []\nauthor = "me"\n'

PIECES = r"""1e400 nan -1 0 true "" [] {} "\u0000" "\u202e" 99999999999999999999999999 [[ ]] = ''' 1979-05-27 "human"
' \
"../../etc/passwd" [1,2] [limits] a.b.c=1 0x7fffffffffffffff "512_MiB" [[entrants]] 1.0 .5 # é inf"""
TOKENS = st.sampled_from(PIECES.split())


@st.composite
def mutated(draw, text):
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        new = draw(TOKENS | st.text(max_size=8) | st.just(text[start:end] * 2))
        text = text[:start] + new + text[end:]
    return text


@st.composite
def with_another_value(draw, text):
    lines = text.splitlines()
    at = draw(st.sampled_from([number for number, line in enumerate(lines) if "=" in line]))
    key = lines[at].partition("=")[0]
    lines[at] = f"{key}= {draw(TOKENS)}"
    return "\n".join(lines)


TOURNAMENTS = st.sampled_from([TOURNAMENT.replace("FORMAT", table) for table in FORMATS])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("mutated")


def only_usage_errors(load, path, text):
    try:
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        load()
    except UsageError as error:
        assert str(error)
    except UnicodeEncodeError:
        pass


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(text=TOURNAMENTS.flatmap(lambda text: mutated(text) | with_another_value(text)))
def test_a_mutated_tournament_file_is_accepted_or_refused_in_words(place, text):
    path = place / "t.toml"
    only_usage_errors(lambda: load_definition(path), path, text)


@pytest.mark.slow(sample=True)
@settings(max_examples=150, deadline=None)
@given(text=mutated(BOT) | with_another_value(BOT))
def test_a_mutated_bot_file_is_accepted_or_rejected_in_words(place, text):
    (place / "bot.py").write_text("")
    only_usage_errors(lambda: load_bot(place), place / "bot.toml", text)
