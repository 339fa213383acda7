"""What a command is doing while it prints nothing, in a terminal; gone when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from arena.analysis.text.tables import printable

ERASE_LINE = "\r\x1b[K"


@contextmanager
def waiting(text: str, is_quiet: bool = False) -> Iterator[None]:
    """Show on stderr, if it is a terminal, what is being done, as long as it takes.

    Args:
        text: a few words, for a line of 80 columns.
        is_quiet: to show nothing.
    """
    is_shown = not is_quiet and sys.stderr.isatty()
    if is_shown:
        click.echo(f"{ERASE_LINE}{printable(text)} …", nl=False, err=True)
    try:
        yield
    finally:
        if is_shown:
            click.echo(ERASE_LINE, nl=False, err=True)
