"""Puts example bots, example tournaments and documentation into the wheel, where ``arena.base.shipped`` finds them."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShippedFiles(BuildHookInterface[Any]):
    """Adds them to wheels only: an editable installation finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what goes where; ``version`` is "standard" or "editable"."""
        if version == "standard":
            pages = [path.relative_to(self.root).as_posix() for path in sorted(Path(self.root, "docs").rglob("*.md"))]
            for name in ("bots", "tournaments", "README.md", "protocol.md", "SECURITY.md", *pages):
                build_data["force_include"][name] = f"arena/shipped_files/{name}"
