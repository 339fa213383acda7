"""What processes that start often, or are many, must not load: each module here costs all of them time and memory.

Modules of the arena are named in full, so that one that is renamed or gone fails, and does not pass unseen.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

RATES = {"numpy", "rustworkx", "trueskill", "arena.ratings.rated_results"}
"""What rates takes 0.3 s to import."""
STORES = {"sqlalchemy", "arena.store.results.store"}
READS_FILES = {"pydantic", "arena.match.players.manifest", "arena.tournament.tournament_file"}
SERVES = {"starlette", "uvicorn", "jinja2", "arena.server.http.app", "arena.site.render"}
PRINTS = {"click", "tabulate", "arena.cli.group"}
MEASURES = ("result_pieces", "result_table", "rounds_played", "standings", "verification")
ANALYSES = {"arena.analysis.text.tables", *(f"arena.analysis.measures.{name}" for name in MEASURES)}
PLAYS = {"arena.match.referee", "arena.match.players.connection", "arena.tournament.executors.worker"}
STARTS = {"subprocess", "multiprocessing"}
EVERYTHING = RATES | STORES | READS_FILES | SERVES | PRINTS | ANALYSES | PLAYS


class Process(NamedTuple):
    """A process: the modules it must not load, of a package any, and all libraries that it may load; None for any."""

    program: str
    never: set[str]
    libraries: set[str] | None = None


HELP = """
import runpy
sys.argv = ["arena", "--help"]
try:
    runpy.run_module("arena", run_name="__main__")
except SystemExit as end:
    assert not end.code
"""

WEB = Process(
    "import arena.server.http.server, arena.server.operations.opened_people",
    RATES
    | ANALYSES - {"arena.analysis.text.tables"}
    | PLAYS
    | {"sqlalchemy.dialects.postgresql", "arena.server.http.metrics"},
)
"""A test of the server asks it for every page."""

PROCESSES = {
    "import arena": Process("import arena", EVERYTHING | STARTS, set()),
    "a bot": Process("import arena.botkit", EVERYTHING | STARTS, {"msgpack"}),
    "arena --help": Process(HELP, EVERYTHING - PRINTS | STARTS | {"tabulate"}, {"click"}),
    "kept standings": Process(
        "import arena.analysis.measures.standings_cache, arena.tournament.rounds",
        READS_FILES | SERVES | {"click", "arena.cli.group", "arena.games"},
    ),
    "worker": Process(
        "import arena.tournament.executors.worker",
        EVERYTHING - PLAYS | {"arena.store.people.values", "arena.store.people"},
        {"msgpack"},
    ),
    "fork server": Process(
        "import arena.sandbox.isolation.fork_server, arena.sandbox.isolation.warm_server",
        EVERYTHING
        | STARTS
        | {"asyncio", "dataclasses", "logging", "tempfile", "arena.base.errors", "arena.base.records"},
        set(),
    ),
    "unpacker": Process(
        "import arena.match.uploads.unpacker",
        EVERYTHING | {"subprocess", "arena.sandbox.isolation", "arena.store.home"},
        set(),
    ),
    "web": WEB,
    "pages from rows": Process("import arena.site.pages.overview, arena.site.pages.results", WEB.never),
    "who asks for a contest": Process(
        "import arena.community.contests.contest_text, arena.community.contests.visibility, arena.store.people.contest",
        EVERYTHING,
    ),
    "reader of contests": Process(
        "import arena.community.contests.contest_file", RATES | STORES | SERVES | PRINTS | ANALYSES | PLAYS
    ),
    "builder of pages": Process(
        "import arena.server.http.builder", RATES | STORES - {"arena.store.results.store"} | PRINTS - {"tabulate"}
    ),
    "checker": Process("import arena.community.submissions.checker", RATES | SERVES | PRINTS | ANALYSES),
    "ladder": Process("import arena.community.ladders.open_ladder", RATES | SERVES | PRINTS),
    "play host": Process(
        "import arena.community.play.host_program", RATES | PRINTS - {"tabulate"} | {"starlette", "uvicorn"}
    ),
    "annotator": Process(
        "import arena.lab.matches.annotator_program", RATES - {"arena.ratings.rated_results"} | SERVES | PRINTS | PLAYS
    ),
    "signer of results": Process(
        "import arena.community.contests.results_program", RATES | PRINTS | {"starlette", "uvicorn"}
    ),
}


def loaded_too_much(loaded, never):
    return sorted(name for name in loaded if any(name == one or name.startswith(f"{one}.") for one in never))


@pytest.mark.parametrize("name", sorted(set.union(*(process.never for process in PROCESSES.values()))))
def test_what_must_not_be_loaded_exists(name):
    assert find_spec(name) is not None


SLOW = [
    "web", "checker", "ladder", "play host", "signer of results", "annotator", "kept standings", "reader of contests",
    "pages from rows",
]  # fmt: skip


@pytest.mark.slow(only=SLOW, sample=("web", "reader of contests"))
@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_loads_no_more_than_it_needs(process):
    program, never, libraries = PROCESSES[process]
    # what this machine loads into every Python is no fault of ours: editables, Debian's sitecustomize
    code = "import sys\nbegin = {*sys.modules}\nsys.path.append(sys.argv[1])\n"
    code += f"{program}\nprint(*{{*sys.modules}} - begin)"
    alone = ["-I", "-S"] if libraries == set() else []  # the standard library alone, as it is run
    command = [sys.executable, *alone, "-c", code, str(Path(__file__).parents[1])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded_too_much(loaded, never)
    if libraries is not None:
        roots = {name.partition(".")[0] for name in loaded if not name.startswith("_")}
        assert roots - sys.stdlib_module_names - {"arena", "cython_runtime"} <= libraries


MODELS = """
import arena.server.http.server, arena.server.operations.opened_people
from arena.server.gate.operation import Fields
from arena.site.frame.model import Model, Parameters
print(sum(model.__pydantic_complete__ for base in (Fields, Model, Parameters) for model in base.__subclasses__()))
"""


@pytest.mark.slow
def test_models_of_pages_and_forms_are_built_when_they_are_first_used():
    """What checks and writes the 200 of them takes 2 MB, which a site that nobody reads does not need."""
    done = subprocess.run([sys.executable, "-c", MODELS], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10
