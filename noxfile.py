"""The verbs of this repository: ``nox -s check fix near test test-all docs``.

They run in the environment nox is installed in, so none has to be made for each: ``pip install -e '.[dev]'``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["check", "test"]
nox.needs_version = ">=2024.4"

HERE = Path(sys.executable).parent
BOTS = sorted(str(path) for pattern in ("*.py", "*/bot.py") for path in Path("bots").glob(pattern))
CORES = ("--numprocesses", str(len(os.sched_getaffinity(0))), "--dist", "loadfile", "--no-loadscope-reorder")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SCHEMAS = {
    "workflows": "workflows/*.yml",
    "issue-config": "ISSUE_TEMPLATE/config.yml",
    "issue-forms": "ISSUE_TEMPLATE/[!c]*.yml",
}


def run(session: nox.Session, program: str, *arguments: str) -> None:
    """Run a program of this environment, whatever ``PATH`` says."""
    session.run(str(HERE / program), *arguments, external=True)


def find_python(version: str) -> str | None:
    """Return an interpreter of a version: one on ``PATH``, or one that pyenv has installed."""
    installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    candidates = [shutil.which(f"python{version}"), *map(str, installed)]
    return next((each for each in candidates if each and answers(each)), None)


def answers(python: str) -> bool:
    """Return whether an interpreter can make environments: a shim of pyenv may be there without the version, and
    Debian's without ``ensurepip``.
    """
    return subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True, check=False).returncode == 0


@nox.session
def check(session: nox.Session) -> None:
    """Look at the source: style, types, the workflows and the hooks. Changes nothing."""
    run(session, "ruff", "check", ".")
    run(session, "ruff", "format", "--check", ".")
    run(session, "mypy")
    for bot in BOTS:  # each is a program of its own, and several are called bot.py
        run(session, "mypy", "--strict", bot)
    run(session, "pre-commit", "validate-config")
    for schema, pattern in SCHEMAS.items():
        files = sorted(str(path) for path in Path(".github").glob(pattern))
        run(session, "check-jsonschema", "--builtin-schema", f"vendor.github-{schema}", *files)
    run(session, "zizmor", "--offline", "--no-progress", "--quiet", ".github")


@nox.session
def fix(session: nox.Session) -> None:
    """Mend what can be mended without thinking: imports, layout."""
    run(session, "ruff", "check", "--fix", ".")
    run(session, "ruff", "format", ".")


@nox.session
def test(session: nox.Session) -> None:
    """Run the tests, as the second command of README.md does; arguments after ``--`` go to pytest."""
    run(session, "pytest", *session.posargs)


@nox.session
def near(session: nox.Session) -> None:
    """Run the fast tests of the rooms that differ from main, and of the rooms that import them."""
    paths = session.run(str(HERE / "python"), "-m", "tests.near", external=True, silent=True).split()
    run(session, "pytest", *CORES, "-m", "not slow and not soak", *paths, *session.posargs)


@nox.session(name="test-all")
def test_all(session: nox.Session) -> None:
    """Run all tests but the soak, and check the marker of each against what it costs."""
    run(session, "pytest", *CORES, "--costs", "-m", "not soak", "tests", *session.posargs)


@nox.session
def pythons(session: nox.Session) -> None:
    """Run README.md's second command with every other Python that is promised and on this machine; arguments after
    ``--`` go to pytest.
    """
    missing = []
    for version in PYTHONS:
        if version == "{}.{}".format(*sys.version_info):
            continue
        python = find_python(version)
        if python is None:
            missing.append(version)
            continue
        with tempfile.TemporaryDirectory() as place:
            session.run(python, "-m", "venv", place, external=True)
            session.run(f"{place}/bin/pip", "install", "--quiet", "-e", ".[test]", external=True)
            session.run(f"{place}/bin/pytest", *session.posargs, external=True)
    if missing:
        session.log(f"not on this machine, so not tested: Python {', '.join(missing)}")


@nox.session
def soak(session: nox.Session) -> None:
    """Run the long tests; arguments after ``--`` choose some."""
    run(session, "pytest", "-m", "soak", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Run the fuzz tests, with coverage to guide them where the extra ``fuzz`` is installed."""
    run(session, "pytest", "tests/fuzz")


@nox.session
def quickstart(session: nox.Session) -> None:
    """Play the tournament of README.md's first command in a fresh home, and verify it."""
    with tempfile.TemporaryDirectory() as home:
        run(session, "arena", "run", "tournaments/quickstart.toml", "--home", home)
        run(session, "arena", "verify", "--home", home)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the docs site into ``build/site``; a warning or a broken link is an error."""
    run(session, "sphinx-build", "--quiet", "--fail-on-warning", "--keep-going", "--fresh-env", "docs", "build/site")
