"""Games from outside the package: where they are, so that bots may read them too."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import stat
import sys
from pathlib import Path

from arena.base.errors import GameError
from arena.games import find_game


@functools.lru_cache(maxsize=64)
def find_external_game(name: str) -> tuple[str, str] | None:
    """Return the topmost module of a game and its path: a file, or the directory of a package.

    None for the games of this package, and for a module that is no file; raises UsageError if it can't be loaded.
    """
    if ":" not in name:
        return None
    module = inspect.getmodule(find_game(name))
    top = (module.__name__ if module is not None else "").partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None or top == __name__.partition(".")[0]:
        return None
    path = Path(file).resolve()
    return top, str(path.parent if path.name == "__init__.py" else path)


def check_readable_game(game: str) -> None:
    """Raise GameError if bots could not load the rules of a game that the arena itself can load."""
    if ":" not in game:
        return
    located = find_external_game(game)
    if located is None:
        if find_game(game).__module__.partition(".")[0] != __name__.partition(".")[0]:
            raise GameError(game, "its module", "is no file that bots could read; put it into a file of its own")
        return
    path = Path(located[1])
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    if os.geteuid() == 0 and any(not file.stat().st_mode & stat.S_IROTH for file in files):
        raise GameError(game, "its module", f"may not be read by bots, which run as another user: chmod -R o+rX {path}")
    if path.is_file():
        _check_imports(game, path)


def _check_imports(game: str, path: Path) -> None:
    """Raise GameError if a module that is a single file imports a file beside it, which bots may not read."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for top in {(name or "").partition(".")[0] for name in names}:
            file = getattr(sys.modules.get(top), "__file__", None)
            beside = (path.with_name(f"{top}.py"), path.with_name(top) / "__init__.py")
            if file is not None and Path(file).resolve() in beside and top != path.stem:
                problem = f"imports {top!r} from beside it, which bots can't read; make both one package"
                raise GameError(game, "its module", problem, f"{path.name}:{node.lineno}")
