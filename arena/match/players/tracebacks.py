"""What Python printed when a bot failed, and where in the author's own files."""

from __future__ import annotations

import os
import re
from pathlib import Path

from arena.base.records import Bot
from arena.base.shipped import package_directory

_ARENA = str(package_directory()) + os.sep


def last_error(stderr: str) -> tuple[str, str]:
    """Return the name and text of the last exception that Python printed; empty without one."""
    for line in reversed(stderr.splitlines()):
        match = re.match(r"([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning))(?::\s*(.*))?$", line)
        if match:
            return match[1].rpartition(".")[2], match[2] or ""
    return "", ""


def last_own_line(stderr: str, bot: Bot) -> str:
    """Return the last line of the author's own files in the traceback, as "bot.py, line 7"."""
    frames = re.findall(r'^\s*File "([^"]+)", line (\d+)', stderr, re.MULTILINE)
    own = [(path, line) for path, line in frames if _is_own(path, bot)]
    return f"{Path(own[-1][0]).name}, line {own[-1][1]}" if own else ""


def line_in(place: str, stderr: str, bot: Bot) -> str:
    """Return the last line of a file, or of a directory's files, that the bot's own code has called; empty if none."""
    frames = re.findall(r'^\s*File "([^"]+)", line (\d+)', stderr, re.MULTILINE)
    for path, line in reversed(frames):
        if path == place or path.startswith(f"{place}/"):
            return f"{Path(path).name}, line {line}"
        if _is_own(path, bot):
            break
    return ""


def _is_own(path: str, bot: Bot) -> bool:
    is_relative = not path.startswith(("/", "<")) and path.endswith(".py")
    is_inside = is_relative or path.startswith(f"{bot.directory.rstrip('/')}/")
    is_ours = path.startswith(_ARENA) and not f"{bot.directory}/".startswith(_ARENA)
    return is_inside and not is_ours and "/site-packages/" not in path


def own_traceback(stderr: str, bot: Bot) -> list[str]:
    """Return the lines of stderr, without those frames of tracebacks that are not in the author's own files.

    If there is no frame of the author's, all stay.
    """
    lines: list[str] = []
    is_any_own = any(_is_own(path, bot) for path in re.findall(r'^\s+File "([^"]+)", line', stderr, re.MULTILINE))
    is_in_frame = is_shown = False
    for line in stderr.splitlines():
        match = re.match(r'\s+File "([^"]+)", line \d+(, in )?', line)
        if match:
            is_in_frame, is_shown = bool(match[2]), not is_any_own or _is_own(match[1], bot)
        elif not line.startswith("    "):
            is_in_frame, is_shown = False, True
        is_mark = is_in_frame and not line.strip(" ^~")  # below a line that may be broken in another place
        if is_shown and not is_mark:
            lines.append(line)
    return lines
