"""Puts the example bots and tournaments and protocol.md into the wheel, where ``arena.base.shipped`` finds them."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShippedFiles(BuildHookInterface[Any]):
    """Adds them to wheels only: an editable installation finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what goes where; ``version`` is "standard" or "editable"."""
        if version == "standard":
            for name in ("bots", "tournaments", "protocol.md"):
                build_data["force_include"][name] = f"arena/shipped_files/{name}"
