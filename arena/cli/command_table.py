"""The table of commands: each is a line here, and a click command that is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import click


class CommandEntry(NamedTuple):
    """A command: its click command, as ``module:name`` below ``arena.cli``, and what it does, in a line."""

    place: str
    summary: str

    def imported(self) -> click.Command:
        module, _, name = self.place.partition(":")
        command: click.Command = getattr(import_module(f"arena.cli.{module}"), name)
        return command


class Noun(NamedTuple):
    """A group of rare commands: a line about them, and their spellings, each with its name in ``COMMANDS``."""

    summary: str
    commands: Mapping[str, str]


COMMANDS = {
    "quickstart": CommandEntry("tournaments.run_command:quickstart_command", "Play four example bots."),
    "play": CommandEntry("bots.play_command:play_command", "Play one match and draw it as it goes."),
    "run": CommandEntry("tournaments.run_command:run_command", "Play a tournament, or resume it."),
    "extend": CommandEntry("tournaments.run_command:extend_command", "Let a finished tournament play on."),
    "schedule": CommandEntry("tournaments.schedule_command:schedule_command", "Show a schedule before it is played."),
    "compare": CommandEntry("tournaments.compare_command:compare_command", "Test whether a new version is better."),
    "tune": CommandEntry("tournaments.tune_command:tune_command", "Search for better parameters of a bot."),
    "standings": CommandEntry("results.tables:standings_command", "Show the table of a tournament."),
    "crosstable": CommandEntry("results.tables:crosstable_command", "Show who scored what against whom."),
    "rounds": CommandEntry("results.matches:rounds_command", "Show the bracket, the round cards or the rounds."),
    "stats": CommandEntry("results.tables:stats_command", "Show draws, seats, groups and tests behind a table."),
    "grades": CommandEntry("results.grades_command:grades_command", "Grade a class from the groups of a table."),
    "matches": CommandEntry("results.matches:matches_command", "List the matches of a tournament."),
    "replay": CommandEntry("results.replay_command:replay_command", "Step through a recorded match."),
    "serve": CommandEntry("site.serve_command:serve_command", "Show the results in your browser, updating live."),
    "publish": CommandEntry("site.publish_command:publish_command", "Write tournaments as a folder of pages."),
    "report": CommandEntry("site.publish_command:report_command", "Write a tournament as one HTML file."),
    "plot": CommandEntry("site.publish_command:plot_command", "Draw ratings, crosstable, seats and times."),
    "show": CommandEntry("results.bots:show_command", "Show a bot's ratings, rivals and faults."),
    "leaderboard": CommandEntry("results.tables:leaderboard_command", "Rate all bots of a game over all tournaments."),
    "lab": CommandEntry("lab.lab_command:lab_command", "Solve games, annotate matches, make puzzles."),
    "games": CommandEntry("bots.author_tools:games_command", "List the games, or show the rules of one."),
    "new": CommandEntry("bots.author_tools:new_command", "Write the start of a bot in one of eight languages."),
    "protocol": CommandEntry("bots.author_tools:protocol_command", "Print the protocol between the arena and bots."),
    "check": CommandEntry("bots.check_command:check_command", "Test whether a bot keeps the protocol."),
    "repro": CommandEntry("bots.author_tools:repro_command", "Reproduce the failure of a bot in a recorded match."),
    "submit": CommandEntry("remote.submit_command:submit_command", "Check a bot and copy it into the arena."),
    "challenge": CommandEntry("remote.submit_command:challenge_command", "Let your bot play another at a site."),
    "bots": CommandEntry("results.bots:bots_command", "List the submitted bots, or remove one."),
    "tournaments": CommandEntry("results.tournaments:tournaments_command", "List the tournaments, or the trash."),
    "season": CommandEntry("results.tournaments:season_command", "Put tournaments into a season."),
    "seasons": CommandEntry("results.tournaments:seasons_command", "List the seasons."),
    "rename": CommandEntry("tournaments.transfer:rename_command", "Rename a tournament."),
    "delete": CommandEntry("tournaments.transfer:delete_command", "Move a tournament to the trash."),
    "restore": CommandEntry("tournaments.transfer:restore_command", "Restore a tournament from the trash."),
    "verify": CommandEntry("site.publish_command:verify_command", "Replay every record and recompute the ratings."),
    "export": CommandEntry("tournaments.transfer:export_command", "Print records as JSON lines."),
    "import": CommandEntry("tournaments.transfer:import_command", "Import the records of an export."),
    "merge": CommandEntry("tournaments.transfer:merge_command", "Import the tournaments of another home."),
    "completion": CommandEntry("completion:completion_command", "Complete commands and names in bash, zsh or fish."),
    "doctor": CommandEntry("site.machine:doctor_command", "Test how well this machine can sandbox bots."),
    "backup": CommandEntry("site.backup_command:backup_command", "Back up the home while it is used, and restore it."),
    "people": CommandEntry("site.people_command:people_command", "Add people, change their roles, close accounts."),
    "ladder": CommandEntry("site.contest_command:ladder_command", "Pause, drain and resume ladders."),
    "contest": CommandEntry("site.contest_command:contest_command", "Announce, reveal and cancel contests."),
    "units": CommandEntry("site.machine:units_command", "Write systemd units that serve an arena."),
    "login": CommandEntry("remote.login_command:login_command", "Sign in at the site of another arena."),
    "logout": CommandEntry("remote.login_command:logout_command", "Sign out there."),
    "withdraw": CommandEntry("tournaments.corrections:withdraw_command", "Withdraw a bot; its results stay."),
    "disqualify": CommandEntry("tournaments.corrections:disqualify_command", "Disqualify a bot."),
    "replace": CommandEntry("tournaments.corrections:replace_command", "Replace the files of an entrant."),
    "void": CommandEntry("tournaments.corrections:void_command", "Void matches, to be played again."),
    "enter": CommandEntry("tournaments.corrections:enter_command", "Enter a bot in a tournament that has begun."),
    "undo": CommandEntry("tournaments.corrections:undo_command", "Undo a correction."),
    "corrections": CommandEntry(
        "tournaments.corrections:corrections_command", "List the corrections and their reasons."
    ),
}
"""Every command by its plain name, ``arena NAME``, which works whether it is listed or not."""


def _same(*names: str) -> dict[str, str]:
    return dict(zip(names, names, strict=True))


NOUNS = {
    "tournament": Noun(
        "List, rename, delete, verify, export and merge tournaments.",
        {"list": "tournaments"}
        | _same(
            "extend",
            "schedule",
            "rounds",
            "crosstable",
            "plot",
            "verify",
            "export",
            "import",
            "merge",
            "rename",
            "delete",
        )
        | _same("restore", "season", "seasons"),
    ),
    "correct": Noun(
        "Withdraw bots, void matches, undo: corrections of results.",
        _same("withdraw", "disqualify", "replace", "void", "enter", "undo") | {"list": "corrections"},
    ),
    "bot": Noun(
        "List bots, show their profiles, reproduce their failures.",
        {"list": "bots"} | _same("show", "repro", "protocol", "challenge"),
    ),
    "home": Noun("Test this machine, back up the home, complete commands.", _same("doctor", "backup", "completion")),
    "site": Noun(
        "Sign in at a site; manage its people, contests and ladders.",
        _same("people", "contest", "ladder", "units", "login", "logout"),
    ),
}
"""Rare commands, grouped: ``arena correct void`` is ``arena void``."""

LISTED = {
    "Play": _same("quickstart", "play", "run", "compare", "tune"),
    "Look": _same("standings", "stats", "grades", "matches", "replay", "leaderboard", "report", "serve", "publish"),
    "Write a bot": _same("games", "new", "check", "submit"),
    "More commands (arena NAME --help lists them)": _same(*NOUNS, "lab"),
}
"""What ``arena --help`` lists, in the order of a first visit."""
