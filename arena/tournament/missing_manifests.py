"""Writes the ``bot.toml`` that is missing in collected folders, where it is clear which file is the program."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from arena.base.errors import BotDefinitionError, UsageError, failing_as
from arena.base.text import any_of, toml_value
from arena.match.players.manifest import MANIFEST, check_name
from arena.match.uploads.unpacking import is_archive
from arena.tournament.collected import MAIN_FILES, OF_MOODLE, has_manifest, is_one_submission, is_program, paths_in


def write_manifests(path: Path) -> Iterator[Path]:
    """Write the ``bot.toml`` that is missing in a bot's folder, or in those below a folder of submissions; yield each.

    Raises:
        BotDefinitionError: if it is not clear which of its files is the program.
    """
    if not path.is_dir() or has_manifest(path):
        return
    entries, programs = paths_in(path), _programs_in(path)
    folders = [entry for entry in entries if entry.is_dir() and not has_manifest(entry)]
    is_of_person = OF_MOODLE.fullmatch(path.name)
    has_main = is_of_person or any(program.name in MAIN_FILES for program in programs)
    holds_bots = not is_of_person and any(
        is_one_submission(entry) if entry.is_dir() else is_archive(entry) and not has_main for entry in entries
    )
    if not holds_bots and (programs or not folders):
        if not has_main and (other := next(filter(_may_be_submission, folders), None)) is not None:
            raise BotDefinitionError(
                f"bot {str(path)!r}: {programs[0].name!r} may be its program, or a submission as {other.name!r} may be;"
                f" call a program {MAIN_FILES[0]!r}, or for submissions check {path / '*'}"
            )
        yield _write_manifest(path, programs)
        return
    for folder in folders:
        with contextlib.suppress(BotDefinitionError):  # the check says what is wrong with it
            yield _write_manifest(folder, _programs_in(folder))


def _programs_in(folder: Path) -> list[Path]:
    """Return the programs in a folder, or of several the one that is known to be the bot."""
    programs = [entry for entry in paths_in(folder) if is_program(entry)]
    return [program for name in MAIN_FILES for program in programs if program.name == name][:1] or programs


def _may_be_submission(folder: Path) -> bool:
    with contextlib.suppress(BotDefinitionError):
        return len(_programs_in(folder)) == 1 and not (folder / "__init__.py").exists()
    return False


def _write_manifest(folder: Path, programs: Sequence[Path]) -> Path:
    if len(programs) != 1:
        names = ", ".join(repr(program.name) for program in programs[:3]) or "no program"
        raise BotDefinitionError(f"bot {str(folder)!r}: found {names}; expected one program, or {any_of(MAIN_FILES)}")
    program = programs[0].name
    person = OF_MOODLE.fullmatch(folder.name)
    name = unicodedata.normalize("NFC", person["person"] if person else folder.resolve().name)
    check_name(f"bot {str(folder)!r}: name", name)
    command = ["python3", program] if program.endswith(".py") else [f"./{program}"]
    path = folder / MANIFEST
    with failing_as(UsageError, f"{path}: can't be written"), path.open("x", encoding="utf-8") as file:
        file.write(f"name = {toml_value(name)}\ncommand = {toml_value(command)}\n")
    return path
