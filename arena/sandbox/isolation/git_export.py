"""Exports a commit of a git repository, which may be untrusted.

The repository's own configuration can name programs, so git reads it only to find the commit: an empty repository,
which borrows the objects, writes the archive.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from arena.base.errors import BotDefinitionError, UsageError
from arena.base.text import shortened_text, size_text

GIT_SECONDS = 60.0
GIT_PROGRAM = "git"
MAX_ERROR_BYTES = 1000
MAX_ANSWER_BYTES = 64 * 1024
RUNS_NOTHING = {"GIT_ALLOW_PROTOCOL": "", "GIT_NO_LAZY_FETCH": "1"}
"""A repository can name the program by which git fetches an object that it lacks."""
BARE_CONFIGURATION = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
"""Git's configuration without the filters of this machine, which a repository's attributes could run."""


def export_commit(shown: str, path: Path, reference: str, tar: Path, max_bytes: int) -> str:
    """Write the files of a commit, below a directory of the repository, into a new tar; return the commit.

    Raises:
        BotDefinitionError: if its files are too large; ``shown`` begins the sentence.
        UsageError: if there is no such commit or no git, or it takes too long.
    """

    def ask(*arguments: str) -> str:
        found = _git(shown, MAX_ANSWER_BYTES, "-C", str(path), "-c", "core.fsmonitor=false", "rev-parse", *arguments)
        return os.fsdecode(found).strip()

    commit = ask("--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    below, objects = ask("--show-prefix"), ask("--git-path", "objects")
    with tempfile.TemporaryDirectory(dir=tar.parent) as empty:
        _git(shown, MAX_ANSWER_BYTES, "init", "--quiet", "--bare", empty)
        variables = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str((path / objects).resolve()), **BARE_CONFIGURATION}
        tree = f"{commit}:{below}" if below else commit
        archive = _git(shown, max_bytes, f"--git-dir={empty}", "archive", "--format=tar", tree, environment=variables)
    tar.write_bytes(archive)
    return commit


def _git(shown: str, max_bytes: int, *arguments: str, environment: Mapping[str, str] = {}) -> bytes:
    """Run git without variables that would lead it elsewhere; return what it prints; errors as in ``export_commit``."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **RUNS_NOTHING, **environment}
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                [GIT_PROGRAM, *arguments],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        except FileNotFoundError:
            raise UsageError(f"{shown!r}: there is no program {GIT_PROGRAM!r} on this machine") from None
        except OSError as error:
            raise UsageError(f"{shown!r}: git can't be run: {error.strerror}") from error
        deadline = threading.Timer(GIT_SECONDS, process.kill)
        deadline.start()
        with process:
            printed = process.stdout.read(max_bytes + 1) if process.stdout is not None else b""
            if len(printed) > max_bytes:
                process.kill()
        deadline.cancel()
        errors.seek(0)
        first_line = errors.read(MAX_ERROR_BYTES).decode(errors="replace").strip().partition("\n")[0]
    if len(printed) > max_bytes:
        raise BotDefinitionError(f"{shown!r}: more than {size_text(max_bytes)} of files")
    if process.returncode < 0:
        raise UsageError(f"{shown!r}: git took more than {GIT_SECONDS:g} s")
    if process.returncode:
        raise UsageError(f"{shown!r}: git finds no bot there: {shortened_text(first_line) or 'no such commit'}")
    return printed
