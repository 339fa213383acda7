"""Loading an external game from the file named by the arena."""

from __future__ import annotations

import os
import sys

VARIABLE = "ARENA_GAME"


def load_external_game() -> None:
    """Import the module named by ``ARENA_GAME``, if it is set, so that its games are found by their dotted paths."""
    module, _, location = os.environ.get(VARIABLE, "").partition("=")
    if not location or module in sys.modules:
        return
    from importlib.util import module_from_spec, spec_from_file_location  # most bots have no need of them
    from pathlib import Path

    is_package = Path(location).is_dir()
    spec = spec_from_file_location(
        module,
        Path(location, "__init__.py") if is_package else location,
        submodule_search_locations=[location] if is_package else None,
    )
    if spec is None or spec.loader is None:
        return
    loaded = module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)
