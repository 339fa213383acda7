"""The parts of ``arena serve``: programs that share nothing but the home, so that each can run alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from arena.errors import UsageError


@dataclass(frozen=True, slots=True)
class Part:
    """A part.

    A module that is one has ``main(arguments)``, which works until SIGTERM. The arguments are the process that started
    it, 0 if it runs alone; the home; and the value of its option, if it has one: where there is one for each ladder,
    its file. The URL of a store is in the environment, for everybody on the machine sees arguments.

    Attributes:
        name: as ``arena serve --only`` takes it.
        summary: what it does, as the end of a sentence.
        module: the program, by name; "" for the web process.
        is_per_ladder: whether there is one for each ladder.
        option: the parameter of ``arena serve`` that is for it alone; "" for none.
        cpu_weight: its share of a busy machine, beside the other parts; 100 is usual.
    """

    name: str
    summary: str
    module: str
    is_per_ladder: bool = False
    option: str = ""
    cpu_weight: int = 50


WEB = "web"

PARTS: tuple[Part, ...] = (
    Part(WEB, "answers browsers and programs", "", cpu_weight=300),
    Part("checker", "checks what authors hand in", "arena.submissions.checker_program"),
    Part("contests", "plays contests", "arena.contests.director_program"),
    Part("ladder", "plays a ladder", "arena.ladders.director_program", is_per_ladder=True, option="ladders"),
    Part("results", "signs the results of contests", "arena.site.publish.results_program", cpu_weight=20),
    Part("play", "lets people play against bots", "arena.playing.host_program", option="play_slots", cpu_weight=20),
)
"""Another program is another line: ``--only``, the locks and the systemd units follow from it."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a part, which runs beside the web process or alone.

    Attributes:
        module: by name.
        arguments: those that follow the process that started it.
        lock: the name of its lock in the home.
    """

    module: str
    arguments: tuple[str, ...]
    lock: str

    def run_alone(self) -> int:
        """Run it in this process until SIGTERM, and return its exit code."""
        main = cast(Callable[[list[str]], int], import_module(self.module).main)
        return main(["0", *self.arguments])


def part_named(name: str) -> Part:
    """Return a part."""
    return next(part for part in PARTS if part.name == name)


def programs(
    parts: Sequence[Part],
    directory: str | os.PathLike[str],
    ladders: Sequence[tuple[str, str]],
    play_slots: int = 0,
) -> tuple[Program, ...]:
    """Return the programs of parts; the web process is not among them.

    Args:
        parts: which of them.
        directory: the home.
        ladders: the name and the file of each ladder.
        play_slots: how many may play against bots at once.

    Raises:
        UsageError: if two ladders have the same name.
    """
    names = [name for name, _ in ladders]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--ladder: two files have the name {name!r}; expected each ladder once")
    place = os.fspath(directory)
    made: list[Program] = []
    for part in parts:
        if part.is_per_ladder:
            made += [Program(part.module, (place, file), f"{part.name} {name}") for name, file in ladders]
        elif part.option == "play_slots":
            made.append(Program(part.module, (place, str(play_slots)), part.name))
        elif part.module:
            made.append(Program(part.module, (place,), part.name))
    return tuple(made)
