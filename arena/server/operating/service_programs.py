"""The services of a site: their programs, their locks, what is wrong with them, and their systemd units."""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from arena.base.errors import ArenaError, StoreError, UsageError
from arena.base.programs.service_program import HealthProblem, noted_problems
from arena.base.shipped import PREFIX, package_directory
from arena.base.text import counted
from arena.store.home import DATABASE_FILE, VISITORS_LOCK, has_file, has_people
from arena.store.people.contest import ContestPhase, ContestResults, phase_of
from arena.store.people.directors import LADDER, DesiredState, DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.results.lock import FileLock, is_file_locked

WEB, WORK = "web", "work"
"""What ``arena serve --only`` takes, and the names of locks: the web process, and the supervisor of all services."""


@dataclass(frozen=True, slots=True)
class ServiceKind:
    """A service: its name in health problems, what it does (the end of a sentence), and its module.

    The module has ``main(arguments)``, which works until SIGTERM, or until there is nothing to do. The arguments are
    the process that started it, the home, and the service's own. The URL of a store is in the environment,
    for everybody on the machine sees arguments.
    """

    name: str
    summary: str
    module: str


CHECKER = ServiceKind("checker", "checks what authors submit", "arena.community.submissions.checker")
CONTESTS = ServiceKind("contests", "plays contests", "arena.community.contests.director_program")
LADDER_SERVICE = ServiceKind("ladder", "plays a ladder", "arena.community.ladders.open_ladder")
RESULTS = ServiceKind("results", "signs the results of contests", "arena.community.contests.results_program")
PLAY = ServiceKind("play", "lets people play against bots", "arena.community.play.host_program")
ANNOTATOR = ServiceKind(
    "annotator", "finds out what actions of recorded matches lost", "arena.lab.matches.annotator_program"
)
SERVICES = (CHECKER, CONTESTS, LADDER_SERVICE, RESULTS, PLAY, ANNOTATOR)


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a service, with the arguments after the process that started it, and its ladder ("" for none).

    ``of_visitors``: whether it works on the database of visitors in place of that of people.
    """

    service: ServiceKind
    arguments: tuple[str, ...]
    ladder: str = ""
    of_visitors: bool = False


def programs(
    directory: str | os.PathLike[str], ladders: Sequence[tuple[str, str]], play_slots: int
) -> tuple[Program, ...]:
    """Return the programs of all services, for the name and the file of each ladder; names must differ."""
    names = [name for name, _ in ladders]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--ladder: two files have the name {name!r}; expected each ladder once")
    home = os.fspath(directory)
    return (
        *(Program(service, (home,)) for service in (CHECKER, CONTESTS, RESULTS)),
        *(Program(LADDER_SERVICE, (home, file), name) for name, file in ladders),
        Program(PLAY, (home, str(play_slots))),
        Program(ANNOTATOR, (home,)),
    )


@contextmanager
def locked_for_visitors(directory: Path, play_slots: int, has_store_elsewhere: bool) -> Iterator[tuple[Program, ...]]:
    """Yield the programs beside a site without accounts; without ``play_slots``, visitors only look.

    There are none where nothing can be kept, or where another process has started them: it holds the lock.
    """
    home = os.fspath(directory)
    with ExitStack() as locks:
        try:
            is_there = has_store_elsewhere or has_file(directory, DATABASE_FILE)
            if not is_there or unwritable_reason(directory):
                raise StoreError(f"{directory}: nothing can be kept here")
            locks.enter_context(FileLock(directory / VISITORS_LOCK, "another arena serve works for visitors"))
        except StoreError:
            yield ()
            return
        may_play = play_slots > 0 and not has_people(directory)
        play = Program(PLAY, (home, str(play_slots)), of_visitors=True)
        yield (*((play,) if may_play else ()), Program(ANNOTATOR, (home,)))


def lock_path(directory: Path, name: str) -> Path:
    """Return the file of the lock that ``WEB`` or ``WORK`` holds while it runs."""
    return directory / "parts" / f"{name}.lock"


@contextmanager
def locked_services(directory: Path, names: Iterable[str]) -> Iterator[None]:
    """Hold the locks of ``WEB``, ``WORK`` or both, or raise StoreError: a home has one process of each."""
    with ExitStack() as locks:
        for name in names:
            locks.enter_context(
                FileLock(lock_path(directory, name), f"{directory}: another arena serve runs its {name}")
            )
        yield


# Health problems of the services: what they have noted, what they report in the database, and which do not run.
#
# Each has two sentences: one for everybody, which names nothing of the machine, and one for operators. Of a contest
# both say only that it does not continue: the explanation may be about embargoed results.

HOME = "home"
"""In place of a service: what is wrong keeps all services from their work."""
PROBE = bytes(64 * 1024)
"""What is written to see whether it can be, into a file without a name."""
IN_DIFFICULTY = (DirectorState.SHORT, DirectorState.RESTING, DirectorState.UNABLE)
SEE_LOG = "the log of the server says why"
CANNOT_BE_PLAYED = f"it can't be played now; {SEE_LOG}"
"""What everybody may know of a ladder whose own sentence may name a path or a host."""
OVER = (ContestPhase.FINISHED, ContestPhase.CANCELLED)


def problems(directory: str | os.PathLike[str], people: PeopleStore) -> Iterator[HealthProblem]:
    """Yield what is wrong now with the services of a home, its ladders and contests."""
    noted = list(noted_problems(directory))
    yield from (replace(problem, public=_public(problem.service)) for problem in noted)
    if reason := unwritable_reason(directory):
        public = f"the arena's home can't be written: nothing new is kept; {SEE_LOG}"
        yield HealthProblem(HOME, f"the arena's home can't be written: {directory}: {reason}", public)
    yield from _missing_worker(Path(directory))
    try:
        yield from _ladder_problems(people, noted)
        yield from _contest_problems(people)
        yield from _submission_problems(people)
    except ArenaError as error:
        unread = "the database of people can't be read"
        yield HealthProblem(WEB, f"{unread}: {error}", f"{unread}; {SEE_LOG}")


def unwritable_reason(directory: str | os.PathLike[str]) -> str:
    """Return why a home can't be written, "" if it can: it tries, as free bytes don't tell that for all disks."""
    try:
        with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
            written = file.write(PROBE) or 0
    except OSError as error:
        return error.strerror or type(error).__name__
    return "" if written == len(PROBE) else os.strerror(errno.ENOSPC)


def public_sentence(state: DirectorState, sentence: str) -> str:
    """Return the public part of the sentence of a ladder's program."""
    return CANNOT_BE_PLAYED if state is DirectorState.UNABLE and sentence else sentence


def _public(name: str) -> str:
    subject = next(
        (f"the service that {service.summary}" for service in SERVICES if service.name == name), "a service of the site"
    )
    return f"{subject} can't do all of its work; {SEE_LOG}"


def _public_problem(service: str, sentence: str) -> HealthProblem:
    return HealthProblem(service, sentence, sentence)


def _missing_worker(directory: Path) -> Iterator[HealthProblem]:
    """Yield a problem if the process of all services has run here and does not now, also one of an earlier version."""
    path, web = lock_path(directory, WORK), lock_path(directory, WEB)
    has_worked = any(lock != web for lock in path.parent.glob("*.lock"))
    if has_worked and not (path.exists() and is_file_locked(path)):
        yield _public_problem(WORK, "the process that checks and plays does not run (arena serve --only work)")


def _ladder_problems(people: PeopleStore, noted: list[HealthProblem]) -> Iterator[HealthProblem]:
    for report in people.directors.reports(LADDER):
        is_noted = bool(report.sentence) and any(one.sentence.endswith(report.sentence) for one in noted)
        if people.directors.is_silent(report):
            desired = people.directors.desired_state(report.tournament)
            if desired is None or desired.state is DesiredState.PLAY:
                yield _silent_ladder(report.tournament)
        elif report.state in IN_DIFFICULTY and not is_noted:
            public = public_sentence(report.state, report.sentence) or report.state
            yield HealthProblem(
                "ladder", f"{report.tournament}: {report.sentence or report.state}", f"{report.tournament}: {public}"
            )


def _silent_ladder(name: str) -> HealthProblem:
    """Return the problem of a ladder whose program has ended, perhaps because nobody named it at the last start."""
    stopped = f"{name}: its program does not run"
    drain = f"arena site ladder drain {shlex.quote(name)} --reason TEXT"
    sentence = f"{stopped}; restart with --ladder FILE, or end it for good: {drain}"
    return HealthProblem("ladder", sentence, f"{stopped}; {SEE_LOG}")


def _contest_problems(people: PeopleStore) -> Iterator[HealthProblem]:
    now = people.contests.now()
    for stored in people.contests.all():
        if stored.stage_note and phase_of(stored, now) not in OVER:
            sentence = f"contest {stored.name} does not go on; its page tells its directors why"
            is_known = stored.contest.results is ContestResults.OPEN or stored.revealed_at is not None
            yield HealthProblem("contests", sentence, sentence if is_known else "")  # it may be about embargoed results


def _submission_problems(people: PeopleStore) -> Iterator[HealthProblem]:
    failed, unfinished = people.submissions.failed_checks()
    if failed:
        sentence = f"the arena could not check {counted(len(failed), 'submission')}, the last one {failed[-1]}"
        yield _public_problem("checker", f"{sentence}; {SEE_LOG}")
    if unfinished:
        sentence = f"submission {unfinished[0]} is checked again, as an earlier check ended without a result"
        yield _public_problem("checker", f"{sentence}; {SEE_LOG}")


# The systemd units of an arena, for one home and user: a socket, the site, what checks and plays, slice and target.


WEB_SERVICE, WORK_SERVICE = f"arena-{WEB}.service", f"arena-{WORK}.service"
FIRST_LINE = "# Written by arena units."
NO_LADDER = "none"

UNSEEN = ("/home", "/root", "/run/user")
"""Where ``ProtectHome=yes`` lets a service see nothing."""

_PATH = re.compile(r"/[A-Za-z0-9/._+@:,=-]*")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
_WORD = re.compile(r"[A-Za-z0-9/._:\[\]-]+")
_PLACE = re.compile(r"@([A-Z_]+)@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What the units of an arena differ in.

    Attributes:
        user: who runs it, and the name of the group.
        address: of the site, as ``HOST:PORT``.
        options: further options of the web process, each with its value.
        has_metrics: whether the web process listens for metrics itself, in addition to the socket that it is given.
        ladders: tournament files, absolute, or ``arena:NAME``.
        has_network: whether the store is on a server that is reached by network.
    """

    home: Path
    user: str
    address: str
    is_public: bool
    options: tuple[str, ...]
    play_slots: int
    has_metrics: bool
    ladders: tuple[str, ...]
    has_network: bool


def units(installation: Installation) -> dict[str, str]:
    """Return the units by name; raise UsageError if a value can't stand in a unit."""
    _check(installation)
    common = {"HOME": str(installation.home), "ADDRESS": installation.address}
    plain = {name: _filled(name, common) for name in ("arena.target", "arena.slice", "arena-web.socket")}
    public = ["--public"] if installation.is_public else []
    work = [word for ladder in installation.ladders or (NO_LADDER,) for word in ("--ladder", ladder)]
    work += ["--play-slots", str(installation.play_slots)]
    return plain | {
        WEB_SERVICE: _service(WEB_SERVICE, installation, [*public, *installation.options]),
        WORK_SERVICE: _service(WORK_SERVICE, installation, work),
    }


def _service(name: str, installation: Installation, options: Sequence[str]) -> str:
    has_network = installation.has_network or (name == WEB_SERVICE and installation.has_metrics)
    paths_used = (
        str(installation.home),
        sys.executable,
        sys.base_prefix,
        str(package_directory()),
        *installation.ladders,
    )
    values = {
        "ARENA": f"{shlex.quote(sys.executable)} -P -m arena",
        "FAMILIES": " AF_INET AF_INET6" if has_network else "",
        "GROUP": installation.user,
        "HOME": str(installation.home),
        "OPTIONS": "".join(f" {option}" for option in options),
        "PRIVATE_NETWORK": "no" if has_network else "yes",
        "PROTECT_HOME": "read-only" if any(path.startswith(UNSEEN) for path in paths_used) else "yes",
        "USER": installation.user,
    }
    return _filled(name, values)


def _filled(name: str, values: dict[str, str]) -> str:
    text = files("arena.server.operating").joinpath("units", name).read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: values[place[1]], text)


def _check(installation: Installation) -> None:
    """Raise UsageError for what systemd would read as something else."""
    paths: Sequence[tuple[str, str]] = (
        ("--home", str(installation.home)),
        ("this Python", sys.executable),
        *(("--ladder", ladder) for ladder in installation.ladders if not ladder.startswith(PREFIX)),
    )
    for option, path in paths:
        if _PATH.fullmatch(path) is None:
            raise UsageError(
                f"{option} {path!r}: expected an absolute path of letters, digits and . _ + @ : , = - / alone"
            )
    if _USER.fullmatch(installation.user) is None:
        raise UsageError(f"--user {installation.user!r}: expected the name of a user of this machine, such as arena")
    for word in (installation.address, *installation.options):
        if _WORD.fullmatch(word) is None:
            raise UsageError(f"{word!r}: expected letters, digits and . _ : / [ ] - alone")
