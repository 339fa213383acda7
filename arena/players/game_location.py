"""Games from outside the package: where they are, so that bots may read them too."""

from __future__ import annotations

import functools
import inspect
import sys
from pathlib import Path

from arena.games import find_game


@functools.lru_cache(maxsize=64)
def find_external_game(name: str) -> tuple[str, str] | None:
    """Return the topmost module of a game and its path: a file, or the directory of a package.

    Args:
        name: the game's name or dotted path.

    Returns:
        None for the games of this package, and for a module that is no file.

    Raises:
        UsageError: if the game can't be loaded.
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
