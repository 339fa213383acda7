"""Names the tests of what differs from main: ``python -m tests.near``, as ``nox -s near`` calls it.

A changed file belongs to a room of the table in DESIGN.md. Its tests are those of that room and of the rooms that
import it; a changed test stands for itself, and a page for the tests of the docs.
"""

import subprocess
from pathlib import Path

from tests.test_layers import LAYER, MODULES, PACKAGE, imported_rooms, room, room_of

ROOT = PACKAGE.parent

ELSEWHERE = {"bots": "tests/bots", "docs": "tests/docs", "tournaments": "tests/tournament", "benchmarks": ""}
"""The tests of top-level directories without rooms; of every other file that is no test, those of the docs."""


def changed_files():
    [base] = _git("merge-base", "main", "HEAD")
    return [*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")]


def paths_near(files, importers):
    """Return the paths of the tests that are near to changed files, by the rooms that import each room."""
    paths = {"tests/test_layers.py"}
    for file in map(Path, files):
        top = file.parts[0]
        if top == "tests":
            paths.add(str(file if file.name.startswith("test_") else file.parent))
        elif top == "arena" and file.suffix != ".md":
            changed = room_of(".".join(file.with_suffix("").parts[1:]))
            paths.update(path for each in (changed, *importers.get(changed, ())) for path in paths_of_room(each))
        else:
            paths.add(ELSEWHERE.get(top, "tests/docs"))
    return sorted(path for path in paths if path and (ROOT / path).exists())


def paths_of_room(name):
    """Return the directory of a room's tests; if the room has rooms inside, the files that are its own."""
    path = f"tests/{name.replace('.', '/')}"
    if any(other.startswith(f"{name}.") for other in LAYER):
        return [str(file.relative_to(ROOT)) for file in (ROOT / path).glob("test_*.py")]
    return [path] if (ROOT / path).is_dir() else []


def rooms_that_import():
    importers = {}
    for path in MODULES:
        for imported in imported_rooms(path):
            importers.setdefault(imported, set()).add(room(path))
    return importers


def _git(*arguments):
    git = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return git.stdout.splitlines()


if __name__ == "__main__":
    print(*paths_near(changed_files(), rooms_that_import()))
