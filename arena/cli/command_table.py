"""The table of commands: each is a line here, and a click command that is imported when it is used."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import click


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
        place: of the click command, as ``module:name``.
        summary: what it does, in a line.
    """

    group: CommandGroup
    place: str
    summary: str

    def imported(self) -> click.Command:
        """Import the click command."""
        module, _, name = self.place.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


PLAY, LOOK, WRITE, KEEP, OPEN, CORRECT = CommandGroup

COMMANDS = {
    "quickstart": CommandEntry(
        PLAY, "arena.cli.tournaments.run_command:quickstart_command", "Play four example bots, and say what to do next."
    ),
    "play": CommandEntry(PLAY, "arena.cli.bots.play_command:play_command", "Play one match and draw it as it goes."),
    "run": CommandEntry(PLAY, "arena.cli.tournaments.run_command:run_command", "Play a tournament, or resume it."),
    "schedule": CommandEntry(
        PLAY, "arena.cli.tournaments.schedule_command:schedule_command", "Show a tournament before it is played."
    ),
    "compare": CommandEntry(
        PLAY, "arena.cli.tournaments.compare_command:compare_command", "Find out whether a new version is better."
    ),
    "tune": CommandEntry(
        PLAY, "arena.cli.tournaments.tune_command:tune_command", "Look for better parameters of a bot, and test them."
    ),
    "standings": CommandEntry(LOOK, "arena.cli.results.tables:standings_command", "Show the table of a tournament."),
    "crosstable": CommandEntry(
        LOOK, "arena.cli.results.tables:crosstable_command", "Show who scored what against whom."
    ),
    "rounds": CommandEntry(
        LOOK, "arena.cli.results.matches:rounds_command", "Show who met whom: bracket, round cards, rounds."
    ),
    "stats": CommandEntry(
        LOOK, "arena.cli.results.tables:stats_command", "Show draws, seats, groups and tests behind a table."
    ),
    "matches": CommandEntry(LOOK, "arena.cli.results.matches:matches_command", "List the matches of a tournament."),
    "replay": CommandEntry(LOOK, "arena.cli.results.replay_command:replay_command", "Step through a recorded match."),
    "serve": CommandEntry(
        LOOK, "arena.cli.site.serve_command:serve_command", "Show tournaments, bots and matches in a browser."
    ),
    "publish": CommandEntry(
        LOOK, "arena.cli.site.publish_command:publish_command", "Write tournaments as a folder of pages."
    ),
    "report": CommandEntry(LOOK, "arena.cli.results.report:report_command", "Write a tournament as one HTML file."),
    "plot": CommandEntry(LOOK, "arena.cli.results.report:plot_command", "Draw ratings, crosstable, seats and times."),
    "show": CommandEntry(LOOK, "arena.cli.results.bots:show_command", "Show one bot: ratings, rivals, faults."),
    "leaderboard": CommandEntry(
        LOOK, "arena.cli.results.tables:leaderboard_command", "Rate all bots of a game over all tournaments."
    ),
    "lab": CommandEntry(LOOK, "arena.cli.lab.lab_command:lab_command", "Solve games: what a board is worth; kernels."),
    "games": CommandEntry(
        WRITE, "arena.cli.bots.first_steps:games_command", "List the games, or show the rules of one."
    ),
    "new": CommandEntry(
        WRITE, "arena.cli.bots.first_steps:new_command", "Write the start of a bot, in a language of your choice."
    ),
    "protocol": CommandEntry(
        WRITE, "arena.cli.bots.first_steps:protocol_command", "Show protocol.md: how the arena and a bot talk."
    ),
    "check": CommandEntry(
        WRITE, "arena.cli.bots.check_command:check_command", "Try out whether a bot keeps the protocol, step by step."
    ),
    "repro": CommandEntry(
        WRITE, "arena.cli.bots.repro_command:repro_command", "Start a recorded bot again, up to where it failed."
    ),
    "submit": CommandEntry(
        WRITE, "arena.cli.remote.submit_command:submit_command", "Check a bot and copy it into the arena."
    ),
    "bots": CommandEntry(WRITE, "arena.cli.results.bots:bots_command", "List the submitted bots, or remove one."),
    "tournaments": CommandEntry(
        KEEP, "arena.cli.results.tournaments:tournaments_command", "List the tournaments, or those in the bin."
    ),
    "season": CommandEntry(
        KEEP, "arena.cli.results.tournaments:season_command", "Put tournaments into a season, for its leaderboard."
    ),
    "seasons": CommandEntry(KEEP, "arena.cli.results.tournaments:seasons_command", "List the seasons."),
    "rename": CommandEntry(KEEP, "arena.cli.tournaments.keeping:rename_command", "Give a tournament another name."),
    "delete": CommandEntry(KEEP, "arena.cli.tournaments.keeping:delete_command", "Put a tournament into the bin."),
    "restore": CommandEntry(KEEP, "arena.cli.tournaments.keeping:restore_command", "Take a tournament out of the bin."),
    "verify": CommandEntry(
        KEEP, "arena.cli.results.verify_command:verify_command", "Replay every record and recompute ranks and ratings."
    ),
    "export": CommandEntry(KEEP, "arena.cli.tournaments.transfer:export_command", "Print records as JSON lines."),
    "import": CommandEntry(KEEP, "arena.cli.tournaments.transfer:import_command", "Take the records of an export."),
    "merge": CommandEntry(
        KEEP, "arena.cli.tournaments.transfer:merge_command", "Take what was played in another home."
    ),
    "completion": CommandEntry(
        KEEP, "arena.cli.completion:completion_command", "Complete commands and names in bash, zsh or fish."
    ),
    "doctor": CommandEntry(
        KEEP, "arena.cli.site.machine:doctor_command", "Show what this machine can contain, and measure its clock."
    ),
    "backup": CommandEntry(
        KEEP, "arena.cli.site.backup_command:backup_command", "Copy the home while it is used, and restore it."
    ),
    "people": CommandEntry(
        OPEN, "arena.cli.site.people_command:people_command", "Add people, change their roles, close accounts."
    ),
    "ladder": CommandEntry(
        OPEN, "arena.cli.site.ladder_command:ladder_command", "Pause, drain and resume supervised ladders."
    ),
    "contest": CommandEntry(
        OPEN, "arena.cli.site.contest_command:contest_command", "Announce contests, reveal their results, cancel them."
    ),
    "units": CommandEntry(OPEN, "arena.cli.site.machine:units_command", "Write systemd units that serve an arena."),
    "login": CommandEntry(
        OPEN, "arena.cli.remote.login_command:login_command", "Sign in at an arena elsewhere, for other commands."
    ),
    "logout": CommandEntry(OPEN, "arena.cli.remote.login_command:logout_command", "Sign out of an arena elsewhere."),
    "withdraw": CommandEntry(
        CORRECT, "arena.cli.tournaments.corrections:withdraw_command", "Let a bot leave a tournament; its results stay."
    ),
    "disqualify": CommandEntry(
        CORRECT, "arena.cli.tournaments.corrections:disqualify_command", "Take a bot out of a tournament and its table."
    ),
    "replace": CommandEntry(
        CORRECT,
        "arena.cli.tournaments.corrections:replace_command",
        "Give an entrant new files, and play its matches again.",
    ),
    "void": CommandEntry(
        CORRECT, "arena.cli.tournaments.corrections:void_command", "Play matches again that went wrong."
    ),
    "enter": CommandEntry(
        CORRECT, "arena.cli.tournaments.corrections:enter_command", "Let a bot enter a tournament that has begun."
    ),
    "undo": CommandEntry(CORRECT, "arena.cli.tournaments.corrections:undo_command", "Undo a correction."),
    "corrections": CommandEntry(
        CORRECT, "arena.cli.tournaments.corrections:corrections_command", "List what has been corrected, and why."
    ),
}
