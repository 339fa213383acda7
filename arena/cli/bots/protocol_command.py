"""``arena protocol``: protocol.md, on a terminal page by page."""

from __future__ import annotations

import click

from arena.base.shipped import protocol_text


@click.command("protocol")
def command() -> None:
    """Show protocol.md: how the arena and a bot talk to each other, byte by byte, with examples of every game."""
    click.echo_via_pager(protocol_text())
