"""Loading a game from outside the package, from where the arena says that it is."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

VARIABLE = "ARENA_GAME"


def load_external_game() -> None:
    """Import the module that the arena names, if it names one, so that its games are found by their dotted paths."""
    module, _, place = os.environ.get(VARIABLE, "").partition("=")
    if not place or module in sys.modules:
        return
    is_package = Path(place).is_dir()
    spec = importlib.util.spec_from_file_location(
        module,
        Path(place, "__init__.py") if is_package else place,
        submodule_search_locations=[place] if is_package else None,
    )
    if spec is None or spec.loader is None:
        return
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)
