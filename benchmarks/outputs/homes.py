"""The homes that are recorded: one with people, one with every format and fault, one of the first version."""

import json
import re
import shutil
import time
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import zoo_bots
from benchmarks.outputs.commands import Recorder
from benchmarks.outputs.site import Site

ROOT = Path(__file__).parents[2]
BOTS = ("minimal", "greedy", "random_legal", "stepper")
BAD_BOTS = (
    "never_ready", "exits_when_asked", "answers_late", "prints_text", "illegal_action", "memory_hog", "good_with_note",
    "floods_stderr", "terminal_tricks", "exits_at_once",
)  # fmt: skip
"""At least one for each kind of fault."""
SMALL = 'game = "differences"\noptions = { size = 4 }\nrng_seed = 5\n'
THREE = ("minimal", "greedy", "random_legal")
FILES = {
    "faulty": (f"{SMALL}encounters = 2\n", ("minimal", "greedy", "exits_when_asked")),
    "zoo": (
        f'{SMALL}format = "gauntlet"\nlimits = {{ memory_bytes = "256 MiB" }}\n[gauntlet]\nchallengers = ["minimal"]\n'
        "[time_control]\nper_action_seconds = 0.5\nstartup_seconds = 2.0\n",
        ("minimal", *BAD_BOTS),
    ),
    "three": ('game = "multiplication"\noptions = { players = 3, size = 10 }\nrng_seed = 5\n', THREE),
    "swiss": (f'{SMALL}format = "swiss"\n[swiss]\nrounds = 2\n', (*THREE, "good_with_note")),
    "knockout": (f'{SMALL}format = "knockout"\n[knockout]\nseeding = "entrants"\n', THREE),
    "climb": (f'{SMALL}format = "ladder"\n[ladder]\nmatches = 12\n', THREE),
    "games": ('rng_seed = 5\ngames = [{ game = "plaid" }, { game = "coprimality" }, { game = "plusminus" }]\n', THREE),
    "adjudicated": (f"{SMALL}opening_plies = 2\nply_limit = 5\n", ("minimal", "greedy")),
    "corrected": (f"{SMALL}encounters = 2\n", ("minimal", "greedy", "random_legal", "exits_when_asked")),
    "played": (f"{SMALL}encounters = 2\n", THREE),
    "removed": (SMALL, ("minimal", "greedy")),
}
CORRECTIONS = (
    "void corrected 1 --reason test", "withdraw corrected random_legal --reason test", "run FILES/corrected.toml -q",
    "disqualify corrected exits_when_asked --reason test", "enter corrected BOTS/stepper --reason test",
    "run FILES/corrected.toml -q", "undo corrected --reason test",
    "submit BOTS/minimal --game differences", "season 2026 --add swiss", "season 2026 --add three",
    "delete removed --yes", "lab annotate faulty -q", "lab puzzles swiss",
    "compare BOTS/greedy BOTS/minimal --game differences -o size=5 --limit 9 -q",
)  # fmt: skip
PEOPLE = {"ann": "author", "bob": "author", "dora": "director", "olga": "operator"}
PASSWORD = "correct horse battery"
DIFFERENCES = 'game = "differences"\noptions = { size = 4 }\nladders = true'
CONTEST = """name = "{name}"
title = "The {name} contest"
description = "Two lines\\nof text"
{game}
opens_at = {opens:%Y-%m-%dT%H:%M:%S}
deadline_at = {deadline:%Y-%m-%dT%H:%M:%S}
time_zone = "UTC"
house_bots = ["arena:greedy", "arena:random_legal"]
results = "{results}"
time_control = {{ per_action_seconds = 2.0 }}
[final]
encounters = 2
"""
LADDER = f'name = "spring-ladder"\n{SMALL}format = "ladder"\n[ladder]\nmargin_95 = 1.0\n'
WAIT_SECONDS = 300.0


def make_homes(arena: Path, directory: Path) -> None:
    """Make the homes in a new directory, with ``homes.json``, which names what is in each."""
    (directory / "files").mkdir(parents=True)
    for name in (*BOTS, *BAD_BOTS):
        _make_bot(directory / "bots" / name, name)
    for name, (text, bots) in FILES.items():
        _write_file(directory, name, text, bots)
    _write_file(directory, "again", f"{SMALL}encounters = 2\n", ("minimal", "greedy", "exits_when_asked"))
    _write_file(directory, "league", SMALL, THREE)
    _write_file(directory, "spring-ladder", LADDER, ("minimal", "random_legal"))
    (directory / "files" / "bad.toml").write_text('game = "chess"\nencounters = 0\nformat = "odd"\nnothing = 1\n')
    shutil.copytree(ROOT / "tests" / "data" / "stored" / "homes" / "0.1.0-220911b", directory / "stored" / "home")
    homes = {"people": ["league"], "formats": list(FILES), "stored": []}
    for home, names in homes.items():
        (directory / home).mkdir(exist_ok=True)
        recorder = Recorder(arena, directory / home, directory)
        for name in names:
            _do(recorder, f"run {directory}/files/{name}.toml -q")
        if home == "formats":
            for call in CORRECTIONS:
                _do(recorder, call.replace("BOTS", f"{directory}/bots").replace("FILES", f"{directory}/files"))
        if home == "people":
            _make_people(recorder, directory)
    contents = {home: _contents(Recorder(arena, directory / home, directory)) for home in homes}
    (directory / "homes.json").write_text(json.dumps(contents, indent=1))


def _make_bot(place: Path, source: str, more: str = "") -> None:
    """Copy a bot, so that its path is not that of a version."""
    place.mkdir(parents=True)
    file = ROOT / "bots" / source / "bot.py" if source in BOTS else zoo_bots.program_of(source)
    for one in (file, *zoo_bots.BAD_BOTS.glob("_*.py")):
        shutil.copy(one, place)
    (place / "bot.toml").write_text(
        f'name = "{place.name}"\nversion = "1"\ncommand = ["python3", "{file.name}"]\n{more}'
    )


def _write_file(directory: Path, name: str, text: str, bots: tuple[str, ...]) -> None:
    text += "".join(f'[[entrants]]\nbot = "{directory / "bots" / bot}"\n' for bot in bots)
    tomllib.loads(text)
    (directory / "files" / f"{name}.toml").write_text(text)


def _do(recorder: Recorder, call: str, **extra: str) -> str:
    done = recorder.run(call, **extra)
    if done.returncode in (2, 130):
        raise SystemExit(f"arena {call}: exit code {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def _make_people(recorder: Recorder, directory: Path) -> None:
    """Let people sign in, submit bots and hold contests: played, hidden, cancelled, open and to come."""
    begun = datetime.now(UTC)
    soon, years = begun + timedelta(seconds=60), begun + timedelta(days=360)
    contests = {
        "played": (begun, soon, "open", 'game = "coprimality"'),  # of other bots than the hidden ones
        "hidden": (begun, soon, "sealed", DIFFERENCES),
        "revealed": (begun, soon, "sealed", DIFFERENCES),
        "cancelled": (begun, years, "sealed", DIFFERENCES),
        "running": (begun, years, "sealed", DIFFERENCES),
        "later": (years - timedelta(days=1), years, "frozen", f"frozen_hours = 4.0\n{DIFFERENCES}"),
    }
    for name, (opens, deadline, results, game) in contests.items():
        text = CONTEST.format(name=name, opens=opens, deadline=deadline, results=results, game=game)
        (directory / "files" / f"contest-{name}.toml").write_text(text)
    with Site(recorder, "--open-to", "authors", "--ladder", str(directory / "files" / "spring-ladder.toml")) as site:
        for name, role in PEOPLE.items():
            link = re.search(r"/invitations/[\w-]+", _do(recorder, f"people add {name} --role {role}"))
            assert link is not None
            site.ask(link[0], form={"name": name, "password": PASSWORD, "again": PASSWORD})
        for name in contests:
            _do(recorder, f"contest add {directory}/files/contest-{name}.toml")
        _do(recorder, "contest cancel cancelled --yes --reason test")
        for name, bot in (("ann", "greedy"), ("bob", "good_with_note"), ("bob", "exits_when_asked")):
            own = directory / "bots" / f"{name}_{bot}"
            _make_bot(own, bot, 'games = ["differences"]\n')
            form = {"name": bot, "scopes": "submit", "days": "300"}
            answer = site.ask("/account/tokens", site.sign_in(name, PASSWORD), "application/json", form)
            token = json.loads(answer[2])["token"]
            _do(recorder, f"submit {own} --to http://localhost:{site.port}", ARENA_TOKEN=token)
        cookie = site.sign_in("dora", PASSWORD)
        _wait(lambda: sum(one["phase"] in ("played", "finished") for one in _contests(site, cookie)) == 3)
        _wait(lambda: "ann_greedy" in _do(recorder, "matches spring-ladder"))
    _do(recorder, "contest reveal revealed --reason test")


def _contests(site: Site, cookie: str) -> Any:
    return json.loads(site.ask("/contests", cookie, "application/json")[2])["contests"]


def _wait(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not is_so():
        if time.monotonic() > until:
            raise SystemExit(f"the homes were not ready within {WAIT_SECONDS:g} s")
        time.sleep(1.0)


def _contents(recorder: Recorder) -> dict[str, list[str]]:
    """Return the names of what is in a home: all tournaments, bots and games, and a match of each kind."""
    tournaments = sorted(line["tournament"] for line in json.loads(_do(recorder, "tournaments --json")))
    bots, games = set(), set()
    matches: dict[tuple[str, ...], str] = {}
    for name in tournaments:
        for line in json.loads(_do(recorder, f"matches '{name}' --json")):
            bots |= set(line["bots"])
            games.add(line["game"])
            kinds = (line["game"], line["termination"], *sorted(fault["kind"] for fault in line["faults"]))
            matches.setdefault(kinds, f"{name}/{line['match']}")
    return {
        "tournaments": tournaments,
        "bots": sorted(bots),
        "games": sorted(games),
        "matches": sorted(matches.values()),
    }
