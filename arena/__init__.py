"""An arena for bots: bot programs in, a rated table out.

What the commands do can also be called:

    from arena import ArenaHome, load_definition, run_tournament, standings_of

    if __name__ == "__main__":                      # workers are new Python processes that import this file
        definition = load_definition("arena:quickstart")
        with ArenaHome("my-arena") as home:         # the directory with the database
            run_tournament(definition, home.store)
            for line in standings_of(home.store, definition.name).lines:
                print(line.rank, line.bot, line.rating.exposure)

``make_game`` gives the rules of a game, ``load_bot`` a bot from disk, ``play_match`` plays a single match, also with
Python functions as players, and ``make_definition`` makes a tournament of bots and functions without a file. ``submit``
takes a bot into the arena, ``standings_of(home.store, game=NAME)`` is a leaderboard, ``home.store.records(…)`` yields
what ``arena tournament export`` prints, ``verify`` checks it, and ``rate_results`` rates results from anywhere.
``withdraw``, ``disqualify``, ``replace_bot``, ``void_matches``, ``enter_late`` and ``undo_correction`` correct a
tournament. ``simulate_until`` says what it takes to decide a field of given strengths.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arena.base.display import present_with
from arena.base.version import __version__

if TYPE_CHECKING:  # the tables below for type checkers; a test compares them
    from arena import botkit as botkit
    from arena import games as games
    from arena import interop as interop
    from arena import ratings as ratings
    from arena.analysis.measures.game_statistics import Crosstable as Crosstable
    from arena.analysis.measures.game_statistics import Score as Score
    from arena.analysis.measures.game_statistics import crosstable_of as crosstable_of
    from arena.analysis.measures.overview import LatestResult as LatestResult
    from arena.analysis.measures.overview import Overview as Overview
    from arena.analysis.measures.overview import overview as overview
    from arena.analysis.measures.standings import Standing as Standing
    from arena.analysis.measures.standings import Standings as Standings
    from arena.analysis.measures.standings_cache import standings_of as standings_of
    from arena.analysis.measures.verification import Verification as Verification
    from arena.analysis.measures.verification import verify as verify
    from arena.analysis.text.board import Board as Board
    from arena.base.bot_text import Audience as Audience
    from arena.base.bot_text import BotText as BotText
    from arena.base.bot_text import LeftOut as LeftOut
    from arena.base.definition import Absence as Absence
    from arena.base.definition import Definition as Definition
    from arena.base.definition import GameChoice as GameChoice
    from arena.base.definition import GameOpenings as GameOpenings
    from arena.base.definition import Rejected as Rejected
    from arena.base.enums import AnalysisState as AnalysisState
    from arena.base.enums import ClaimKind as ClaimKind
    from arena.base.enums import ClockKind as ClockKind
    from arena.base.enums import CorrectionKind as CorrectionKind
    from arena.base.enums import DisqualifiedMatches as DisqualifiedMatches
    from arena.base.enums import FaultKind as FaultKind
    from arena.base.enums import OffTurn as OffTurn
    from arena.base.enums import OpeningChoice as OpeningChoice
    from arena.base.enums import StopReason as StopReason
    from arena.base.enums import Termination as Termination
    from arena.base.enums import TournamentState as TournamentState
    from arena.base.errors import ArenaError as ArenaError
    from arena.base.errors import BotDefinitionError as BotDefinitionError
    from arena.base.errors import ClusterError as ClusterError
    from arena.base.errors import DefinitionError as DefinitionError
    from arena.base.errors import GameError as GameError
    from arena.base.errors import StoreError as StoreError
    from arena.base.errors import UnknownNameError as UnknownNameError
    from arena.base.errors import UploadError as UploadError
    from arena.base.errors import UsageError as UsageError
    from arena.base.errors import VoidMatchError as VoidMatchError
    from arena.base.live_match import LiveMatch as LiveMatch
    from arena.base.live_match import LiveSummary as LiveSummary
    from arena.base.records import Bot as Bot
    from arena.base.records import Fault as Fault
    from arena.base.records import Limits as Limits
    from arena.base.records import MatchRecord as MatchRecord
    from arena.base.records import MatchSpec as MatchSpec
    from arena.base.records import ScheduledMatch as ScheduledMatch
    from arena.base.records import SeatReport as SeatReport
    from arena.base.records import TimeControl as TimeControl
    from arena.base.results import EntrantRating as EntrantRating
    from arena.base.results import StoredResult as StoredResult
    from arena.base.until import Claim as Claim
    from arena.base.until import Decided as Decided
    from arena.base.until import OpenClaim as OpenClaim
    from arena.base.until import Until as Until
    from arena.community.submissions.submission import Submission as Submission
    from arena.community.submissions.submission import submit as submit
    from arena.games import Game as Game
    from arena.games import make_game as make_game
    from arena.match.players.bot_files import Bounds as Bounds
    from arena.match.players.entrants import KnownBots as KnownBots
    from arena.match.players.entrants import function_bot as function_bot
    from arena.match.players.function_player import FunctionBot as FunctionBot
    from arena.match.players.manifest import load_bot as load_bot
    from arena.match.players.player import HUMAN as HUMAN
    from arena.match.players.player import Answer as Answer
    from arena.match.players.player import HumanPlayer as HumanPlayer
    from arena.match.players.player import LeftMatchError as LeftMatchError
    from arena.match.players.player import TakenBackError as TakenBackError
    from arena.match.replay import ReplayError as ReplayError
    from arena.match.replay import states_of as states_of
    from arena.match.single_match import play_match as play_match
    from arena.protocol.messages import Request as Request
    from arena.protocol.messages import Seating as Seating
    from arena.protocol.messages import Wants as Wants
    from arena.ratings import Rating as Rating
    from arena.ratings import rate_results as rate_results
    from arena.ratings.consistency import Consistency as Consistency
    from arena.ratings.field_fit import FittedEncounters as FittedEncounters
    from arena.store.bot_registry import BotRegistry as BotRegistry
    from arena.store.bot_registry import RecordedBot as RecordedBot
    from arena.store.home import ArenaHome as ArenaHome
    from arena.store.home import delete_tournament as delete_tournament
    from arena.store.home import erase_tournament as erase_tournament
    from arena.store.home import rename_tournament as rename_tournament
    from arena.store.home import restore_tournament as restore_tournament
    from arena.store.results.addition import Addition as Addition
    from arena.store.results.addition import Source as Source
    from arena.store.results.addition import VoidTry as VoidTry
    from arena.store.results.annotations import AnalysisRequest as AnalysisRequest
    from arena.store.results.annotations import AnalysisRequests as AnalysisRequests
    from arena.store.results.annotations import AnnotationRow as AnnotationRow
    from arena.store.results.annotations import Annotations as Annotations
    from arena.store.results.annotations import AskedMatch as AskedMatch
    from arena.store.results.annotations import StoredAccuracy as StoredAccuracy
    from arena.store.results.correction_log import Change as Change
    from arena.store.results.correction_log import CorrectionLog as CorrectionLog
    from arena.store.results.correction_log import SetAside as SetAside
    from arena.store.results.correction_log import Skipped as Skipped
    from arena.store.results.live_state import LiveState as LiveState
    from arena.store.results.live_state import PlayedNow as PlayedNow
    from arena.store.results.live_state import RunProgress as RunProgress
    from arena.store.results.live_state import StoredLiveMatch as StoredLiveMatch
    from arena.store.results.live_state import StoredLiveSummary as StoredLiveSummary
    from arena.store.results.live_state import StoredProgress as StoredProgress
    from arena.store.results.lock import DirectorLock as DirectorLock
    from arena.store.results.match_records import Records as Records
    from arena.store.results.rows import RecordRow as RecordRow
    from arena.store.results.scope import Scope as Scope
    from arena.store.results.scope import Season as Season
    from arena.store.results.scope import Seasons as Seasons
    from arena.store.results.states import Leaders as Leaders
    from arena.store.results.states import ListedTournament as ListedTournament
    from arena.store.results.states import listed_tournaments as listed_tournaments
    from arena.store.results.store import Store as Store
    from arena.store.results.values import Authorship as Authorship
    from arena.store.results.values import Correction as Correction
    from arena.store.results.values import CorrectionDetails as CorrectionDetails
    from arena.store.results.values import OwnedBot as OwnedBot
    from arena.store.results.values import Owners as Owners
    from arena.store.results.values import StoredBot as StoredBot
    from arena.store.results.values import StoredFault as StoredFault
    from arena.store.results.values import StoredTournament as StoredTournament
    from arena.tournament.corrections.corrected_tournament import undo_correction as undo_correction
    from arena.tournament.corrections.corrected_tournament import void_matches as void_matches
    from arena.tournament.corrections.entrants import disqualify as disqualify
    from arena.tournament.corrections.entrants import enter_late as enter_late
    from arena.tournament.corrections.entrants import replace_bot as replace_bot
    from arena.tournament.corrections.entrants import withdraw as withdraw
    from arena.tournament.definition import load_definition as load_definition
    from arena.tournament.definition import make_definition as make_definition
    from arena.tournament.director import run_tournament as run_tournament
    from arena.tournament.executors.executor import Executor as Executor
    from arena.tournament.executors.executor import Job as Job
    from arena.tournament.executors.executor import Played as Played
    from arena.tournament.executors.executor import Playing as Playing
    from arena.tournament.executors.executor import Void as Void
    from arena.tournament.executors.executor import WorkQueue as WorkQueue
    from arena.tournament.executors.table import open_executor as open_executor
    from arena.tournament.fair_scheduling import FairScheduling as FairScheduling
    from arena.tournament.fair_scheduling import SuspendedBot as SuspendedBot
    from arena.tournament.formats.format import StopLimits as StopLimits
    from arena.tournament.progress import Progress as Progress
    from arena.tournament.run import Order as Order
    from arena.tournament.run import RunControl as RunControl
    from arena.tournament.transfer.checks import MergedTournament as MergedTournament
    from arena.tournament.transfer.export import whole_export as whole_export
    from arena.tournament.transfer.merging import import_records as import_records
    from arena.tournament.transfer.merging import merge_home as merge_home
    from arena.tournament.until_simulation import SimulatedUntil as SimulatedUntil
    from arena.tournament.until_simulation import WrongClaim as WrongClaim
    from arena.tournament.until_simulation import simulate_until as simulate_until

_MODULE_OF = {
    name: module
    for module, names in {
        "arena.analysis.measures.game_statistics": "Crosstable Score crosstable_of",
        "arena.analysis.measures.overview": "LatestResult Overview overview",
        "arena.analysis.measures.standings": "Standing Standings",
        "arena.analysis.measures.standings_cache": "standings_of",
        "arena.store.results.states": "Leaders ListedTournament listed_tournaments",
        "arena.analysis.measures.verification": "Verification verify",
        "arena.store.bot_registry": "BotRegistry RecordedBot",
        "arena.base.bot_text": "Audience BotText LeftOut",
        "arena.community.submissions.submission": "Submission submit",
        "arena.tournament.corrections.entrants": "disqualify enter_late replace_bot withdraw",
        "arena.tournament.corrections.corrected_tournament": "undo_correction void_matches",
        "arena.base.definition": "Absence Definition GameChoice GameOpenings Rejected",
        "arena.base.enums": "AnalysisState ClaimKind ClockKind CorrectionKind DisqualifiedMatches FaultKind OffTurn"
        " OpeningChoice StopReason Termination TournamentState",
        "arena.base.errors": "ArenaError BotDefinitionError ClusterError DefinitionError GameError StoreError"
        " UnknownNameError UploadError UsageError VoidMatchError",
        "arena.tournament.executors.executor": "Executor Job Played Playing Void WorkQueue",
        "arena.tournament.executors.table": "open_executor",
        "arena.games": "Game make_game",
        "arena.store.home": "ArenaHome delete_tournament erase_tournament rename_tournament restore_tournament",
        "arena.base.live_match": "LiveMatch LiveSummary",
        "arena.match.replay": "ReplayError states_of",
        "arena.match.single_match": "play_match",
        "arena.match.players.bot_files": "Bounds",
        "arena.match.players.entrants": "function_bot",
        "arena.match.players.function_player": "FunctionBot",
        "arena.match.players.player": "Answer HUMAN HumanPlayer LeftMatchError TakenBackError",
        "arena.match.players.manifest": "load_bot",
        "arena.protocol.messages": "Request Seating Wants",
        "arena.ratings": "Rating rate_results",
        "arena.ratings.consistency": "Consistency",
        "arena.ratings.field_fit": "FittedEncounters",
        "arena.base.records": "Bot Fault Limits MatchRecord MatchSpec ScheduledMatch SeatReport TimeControl",
        "arena.base.until": "Claim Decided OpenClaim Until",
        "arena.analysis.text.board": "Board",
        "arena.base.results": "EntrantRating StoredResult",
        "arena.store.results.addition": "Addition Source VoidTry",
        "arena.store.results.annotations": "AnalysisRequest AnalysisRequests AnnotationRow Annotations AskedMatch"
        " StoredAccuracy",
        "arena.store.results.values": "Authorship Correction CorrectionDetails OwnedBot"
        " Owners StoredBot StoredFault StoredTournament",
        "arena.store.results.correction_log": "Change CorrectionLog SetAside Skipped",
        "arena.store.results.live_state": "LiveState PlayedNow RunProgress"
        " StoredLiveMatch StoredLiveSummary StoredProgress",
        "arena.store.results.lock": "DirectorLock",
        "arena.store.results.match_records": "Records",
        "arena.store.results.rows": "RecordRow",
        "arena.store.results.scope": "Scope Season Seasons",
        "arena.store.results.store": "Store",
        "arena.tournament.run": "Order RunControl",
        "arena.tournament.definition": "KnownBots load_definition make_definition",
        "arena.tournament.director": "run_tournament",
        "arena.tournament.transfer.merging": "import_records merge_home",
        "arena.tournament.formats.format": "StopLimits",
        "arena.tournament.progress": "Progress",
        "arena.tournament.fair_scheduling": "FairScheduling SuspendedBot",
        "arena.tournament.transfer.checks": "MergedTournament",
        "arena.tournament.transfer.export": "whole_export",
        "arena.tournament.until_simulation": "SimulatedUntil WrongClaim simulate_until",
    }.items()
    for name in names.split()
}

present_with(lambda: import_module("arena.analysis.text.notebook"))

_PACKAGES = ("botkit", "games", "interop", "ratings")

_EARLIER_NAMES = {"SitsOut": "SuspendedBot", "Turns": "FairScheduling"}

__all__ = ["__version__", *_MODULE_OF]


def __dir__() -> list[str]:
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *_PACKAGES, *own})


if not TYPE_CHECKING:  # a type checker would take it for a promise that every name exists

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used: bots import this package too, and should start quickly."""
        name = _EARLIER_NAMES.get(name, name)
        if name in _PACKAGES:
            return import_module(f"arena.{name}")
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'arena' has no attribute {name!r}")
        return getattr(import_module(_MODULE_OF[name]), name)
