"""The table of commands: each is a line here and a module ``NAME_command.py``, which is imported when it is used."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class CommandGroup(Enum):
    """A heading in the list of commands, in the order of a first visit."""

    PLAY = "Play"
    LOOK = "Look"
    WRITE = "Write a bot"
    KEEP = "Keep"
    OPEN = "Open to others"
    CORRECT = "Correct"


class CommandEntry(NamedTuple):
    """A command in the list.

    Attributes:
        group: its heading.
        summary: what it does, in a line.
    """

    group: CommandGroup
    summary: str


PLAY, LOOK, WRITE, KEEP, OPEN, CORRECT = CommandGroup

COMMANDS = {
    "quickstart": CommandEntry(PLAY, "Play four example bots, and say what to do next."),
    "play": CommandEntry(PLAY, "Play one match and draw it as it goes."),
    "run": CommandEntry(PLAY, "Play a tournament, or resume it."),
    "schedule": CommandEntry(PLAY, "Show a tournament before it is played."),
    "compare": CommandEntry(PLAY, "Find out whether a new version is better."),
    "tune": CommandEntry(PLAY, "Look for better parameters of a bot, and test them."),
    "standings": CommandEntry(LOOK, "Show the table of a tournament."),
    "crosstable": CommandEntry(LOOK, "Show who scored what against whom."),
    "rounds": CommandEntry(LOOK, "Show who met whom: bracket, round cards, rounds."),
    "stats": CommandEntry(LOOK, "Show draws, seats, groups and tests behind a table."),
    "matches": CommandEntry(LOOK, "List the matches of a tournament."),
    "replay": CommandEntry(LOOK, "Step through a recorded match."),
    "serve": CommandEntry(LOOK, "Show tournaments, bots and matches in a browser."),
    "publish": CommandEntry(LOOK, "Write tournaments as a folder of pages."),
    "report": CommandEntry(LOOK, "Write a tournament as one HTML file."),
    "plot": CommandEntry(LOOK, "Draw ratings, crosstable, seats and times."),
    "show": CommandEntry(LOOK, "Show one bot: ratings, rivals, faults."),
    "leaderboard": CommandEntry(LOOK, "Rate all bots of a game over all tournaments."),
    "lab": CommandEntry(LOOK, "Solve games: what a board is worth; kernels."),
    "games": CommandEntry(WRITE, "List the games, or show the rules of one."),
    "new": CommandEntry(WRITE, "Write the start of a bot, in a language of your choice."),
    "protocol": CommandEntry(WRITE, "Show protocol.md: how the arena and a bot talk."),
    "check": CommandEntry(WRITE, "Try out whether a bot keeps the protocol, step by step."),
    "repro": CommandEntry(WRITE, "Start a recorded bot again, up to where it failed."),
    "submit": CommandEntry(WRITE, "Check a bot and copy it into the arena."),
    "bots": CommandEntry(WRITE, "List the submitted bots, or remove one."),
    "tournaments": CommandEntry(KEEP, "List the tournaments, or those in the bin."),
    "season": CommandEntry(KEEP, "Put tournaments into a season, for its leaderboard."),
    "seasons": CommandEntry(KEEP, "List the seasons."),
    "rename": CommandEntry(KEEP, "Give a tournament another name."),
    "delete": CommandEntry(KEEP, "Put a tournament into the bin."),
    "restore": CommandEntry(KEEP, "Take a tournament out of the bin."),
    "verify": CommandEntry(KEEP, "Replay every record and recompute ranks and ratings."),
    "export": CommandEntry(KEEP, "Print records as JSON lines."),
    "import": CommandEntry(KEEP, "Take the records of an export."),
    "merge": CommandEntry(KEEP, "Take what was played in another home."),
    "completion": CommandEntry(KEEP, "Complete commands and names in bash, zsh or fish."),
    "doctor": CommandEntry(KEEP, "Show what this machine can contain, and measure its clock."),
    "backup": CommandEntry(KEEP, "Copy the home while it is used, and restore it."),
    "people": CommandEntry(OPEN, "Add people, change their roles, close accounts."),
    "ladder": CommandEntry(OPEN, "Pause, drain and resume ladders that are kept going."),
    "contest": CommandEntry(OPEN, "Announce contests, reveal their results, cancel them."),
    "units": CommandEntry(OPEN, "Write systemd units that serve an arena."),
    "login": CommandEntry(OPEN, "Sign in at an arena elsewhere, for other commands."),
    "logout": CommandEntry(OPEN, "Sign out of an arena elsewhere."),
    "withdraw": CommandEntry(CORRECT, "Let a bot leave a tournament; its results stay."),
    "disqualify": CommandEntry(CORRECT, "Take a bot out of a tournament and its table."),
    "replace": CommandEntry(CORRECT, "Give an entrant new files, and play its matches again."),
    "void": CommandEntry(CORRECT, "Play matches again that went wrong."),
    "enter": CommandEntry(CORRECT, "Let a bot enter a tournament that has begun."),
    "undo": CommandEntry(CORRECT, "Undo a correction."),
    "corrections": CommandEntry(CORRECT, "List what has been corrected, and why."),
}
