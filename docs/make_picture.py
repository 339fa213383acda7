"""Draw docs/quickstart.svg: what the quickstart tournament prints, as a picture.

python docs/make_picture.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
CHARACTER_WIDTH, LINE_HEIGHT, MARGIN = 7.83, 19, 18
FONTS = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"

HEADING = (3, 4)
"""Which lines are the heading of the table."""

KEEPS_SPACES = 'xml:space="preserve" style="white-space: pre"'
"""On each line itself: Chromium lets lines of text inherit neither, and columns fall together without."""


def main() -> None:
    """Run the tournament and write the picture."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "arena", "run", str(ROOT / "tournaments" / "quickstart.toml"), "-q"]
        text = subprocess.run([*command, "--home", home], capture_output=True, text=True, check=True).stdout
    verdict, table = text.split("\n\n")[:2]
    lines = ["$ arena run tournaments/quickstart.toml", verdict, "", *table.splitlines()]
    (ROOT / "docs" / "quickstart.svg").write_text(svg(lines), encoding="utf-8")


def svg(lines: list[str]) -> str:
    """Return lines of text as an SVG of a terminal."""
    width = round(max(len(line) for line in lines) * CHARACTER_WIDTH + 2 * MARGIN)
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#16181d"/>',
        f'<g font-family="{FONTS}" font-size="13">',
    ]
    for number, line in enumerate(lines):
        if not line:
            continue
        colour = "#7fd1ae" if number == 0 else "#8f96a3" if number in HEADING else "#e6e8ec"
        length = f'textLength="{len(line) * CHARACTER_WIDTH:.1f}" lengthAdjust="spacing"'
        y = MARGIN + (number + 0.75) * LINE_HEIGHT
        parts.append(f'<text x="{MARGIN}" y="{y:.1f}" fill="{colour}" {KEEPS_SPACES} {length}>{escape(line)}</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


if __name__ == "__main__":
    main()
