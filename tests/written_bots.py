"""Bots that tests write, and that speak the protocol by ``_wire`` of the bad bots.

A bot may have a uid of its own, which can't reach a checkout below a closed directory: what it needs lies beside it.
"""

import shutil
from pathlib import Path

WIRE = Path(__file__).parent / "bad_bots" / "_wire.py"


def write_bot(file, program):
    """Write the program of a bot, with ``_wire`` beside it to import from."""
    file.write_text(program)
    shutil.copy(WIRE, file.parent)
