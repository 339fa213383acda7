"""Puts example bots, example tournaments and documentation into the wheel, where ``arena.base.shipped`` finds them.

An editable installation finds them in the checkout. Of the checkout it makes importable ``arena`` alone, for confined
bots may read ``arena/`` but not list the checkout, as a directory on ``sys.path`` has to be. hatchling does the same
(``dev-mode-exact``) with the package ``editables``, which adds 20 ms to every start of Python.
"""

import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FINDER = "_editable_impl_grid_arena"
FINDER_CODE = '''\
"""Finds the package arena in the checkout, and nothing else that is there."""

import sys

DIRECTORY = {directory!r}


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "arena":
            return None
        from importlib.util import spec_from_file_location  # most starts of Python import no arena

        return spec_from_file_location(name, DIRECTORY + "/__init__.py", submodule_search_locations=[DIRECTORY])


sys.meta_path.append(Finder)
'''


class ShippedFiles(BuildHookInterface[Any]):
    """Adds files to wheels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what goes where; ``version`` is "standard" or "editable"."""
        if version == "standard":
            pages = [path.relative_to(self.root).as_posix() for path in sorted(Path(self.root, "docs").rglob("*.md"))]
            for name in ("bots", "tournaments", "README.md", "protocol.md", "SECURITY.md", *pages):
                build_data["force_include"][name] = f"arena/shipped_files/{name}"
            return
        self._directory = tempfile.TemporaryDirectory()
        files = {
            f"{FINDER}.py": FINDER_CODE.format(directory=str(Path(self.root, "arena"))),
            f"{FINDER}.pth": f"import {FINDER}\n",
        }
        for name, content in files.items():
            path = Path(self._directory.name, name)
            path.write_text(content, encoding="utf-8")
            build_data["force_include_editable"][str(path)] = name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was only needed while the wheel was built."""
        if version == "editable":
            self._directory.cleanup()
