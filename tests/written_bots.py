"""Bots that tests write, and that speak the protocol by ``_wire`` of the bad bots.

A bot may have a uid of its own, which can't reach a checkout below a closed directory: what it needs lies beside it.
"""

import shutil
from pathlib import Path

WIRE = Path(__file__).parent / "bad_bots" / "_wire.py"


def kit_bot(*lines, action="game.legal_actions(state)[0]"):
    """Return a program that chooses with the kit.

    Args:
        lines: what it does before it answers.
        action: its answer.
    """
    body = "".join(f"    {line}\n" for line in (*lines, f"return {action}"))
    return f"from arena.botkit import Choice, run\n\ndef choose(game, state, clock):\n{body}\nrun(choose)\n"


def write_bot(file, program):
    """Write the program of a bot, with ``_wire`` beside it to import from."""
    file.write_text(program)
    shutil.copy(WIRE, file.parent)
