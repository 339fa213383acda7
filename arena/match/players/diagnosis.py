"""Hints by cause, from a fault and what was seen around it, for the author of a first bot.

A hint names what happened in the program, not in the protocol, wherever the cause is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from arena.base.enums import FaultKind
from arena.base.errors import MAX_EXCEPTION_CHARACTERS
from arena.base.records import Bot, Fault, MatchRecord
from arena.base.text import shortened_text
from arena.match.players.bot_output import STARVED, TOO_LONG, UNASKED, last_error, last_own_line, line_in
from arena.match.players.game_location import find_external_game
from arena.match.players.program_file import exists, unexecuted_hint, uses_botkit

SMALL_MESSAGE_BYTES = 1 << 16
BUSY_SHARE, IDLE_SHARE = 0.2, 0.1
"""Shares of the time the arena waited: a bot with more CPU time than the first was at work (beside busy programs it
gets a third of a core), one with less than the second was waiting for something."""


class Failure(NamedTuple):
    """A fault, and what was seen around it.

    Attributes:
        received: what the bot has written to stdout since it was asked.
        cpu_seconds: CPU time since it was asked; None if unknown.
        waited_seconds: how long the arena waited; None if it did not time out.
        game: the game's name or dotted path; empty if no match had begun.
        is_submitted: whether its author can install nothing on this machine.
    """

    bot: Bot
    fault: Fault
    stderr: str = ""
    received: bytes = b""
    cpu_seconds: float | None = None
    waited_seconds: float | None = None
    game: str = ""
    is_submitted: bool = False

    @property
    def detail(self) -> str:
        """What the referee reports, in one sentence: hints are for the author."""
        return self.fault.detail.for_operator()


def hint_for(failure: Failure) -> str:
    """Return how to fix a failure: by its cause if that is known, else by the kind of fault."""
    for cause in _CAUSES:
        hint = cause(failure)
        if hint is not None:
            return hint
    return failure.fault.kind.hint


def last_cpu_seconds(record: MatchRecord, seat: int) -> float:
    """Return the CPU time of a seat since its last answer in a match: what it took for an answer that did not come."""
    pairs = zip(record.actions, record.cpu_seconds, strict=True)
    return record.seats[seat].cpu_seconds - sum(seconds or 0.0 for (actor, _), seconds in pairs if actor == seat)


# causes that the program's file and stderr show


def _not_executed(failure: Failure) -> str | None:
    return unexecuted_hint(failure.bot, failure.detail)


def _rules(failure: Failure) -> str | None:
    location = find_external_game(failure.game) if failure.game else None
    at = line_in(location[1], failure.stderr, failure.bot) if location is not None else ""
    if not at or failure.fault.kind not in (FaultKind.EXIT, FaultKind.START):
        return None
    name, text = last_error(failure.stderr)
    return (
        f"the rules of {failure.game} raised {name} at {at}{': ' + shortened_text(text) if text else ''}; unless the"
        " program called them with an action that is not legal, the game is at fault:"
        f" arena check --rules {failure.game}"
    )


def _syntax(failure: Failure) -> str | None:
    name, text = last_error(failure.stderr)
    if name not in ("SyntaxError", "IndentationError", "TabError"):
        return None
    at = last_own_line(failure.stderr, failure.bot)
    language = "JavaScript" if ".js:" in failure.stderr or "js, line" in at else "Python"
    return f"{at or 'the program'} is not {language} ({text}): mend that line or the one above it; nothing was executed"


def _missing_module(failure: Failure) -> str | None:
    name, text = last_error(failure.stderr)
    match = re.search(r"No module named '([^'.]+)", text)
    if name not in ("ModuleNotFoundError", "ImportError") or match is None:
        return None
    module, bot, interpreter = match[1], failure.bot, failure.bot.command[0]
    if bot.own_files and any(exists(Path(bot.directory, name)) for name in (module, f"{module}.py")):
        return (
            f"a bot that is a single file can read no other, and so not {module}: put both into a directory with a"
            f' bot.toml: name = "…", command = ["python3", "{Path(bot.own_files[0]).name}"]'
        )
    note = "; .venv is no part of a bot (docs/dependencies.md)" if exists(Path(bot.directory, ".venv")) else ""
    looked = f"{interpreter} has no module {module!r}; it looked in its own packages and among the bot's files{note}"
    if module == "arena":
        return f'{looked}. In bot.toml command = ["python3", …] is the arena\'s own Python, which has arena.botkit'
    if failure.is_submitted:
        return f"{looked}. Submit it with the bot, as docs/dependencies.md says"
    into = "" if bot.own_files else f", or among the bot's files: {interpreter} -m pip install --target . {module}"
    return f"{looked}. Install it there: {interpreter} -m pip install {module}{into}; what is in ~/.local is not seen"


_OUT_OF_MEMORY = re.compile(
    r"MemoryError|bad_alloc|Cannot allocate memory|[Oo]ut of memory|OutOfMemoryError|memory allocation of \d+ bytes"
    r" failed"
)


def _memory(failure: Failure) -> str | None:
    kind, detail = failure.fault.kind, failure.detail
    is_limit = kind == FaultKind.LIMIT and "memory" in detail
    if not is_limit and not (kind in (FaultKind.EXIT, FaultKind.START) and _OUT_OF_MEMORY.search(failure.stderr)):
        return None
    at = last_own_line(failure.stderr, failure.bot)
    where = f" (it was at {at})" if at else ""
    return (
        f"it asked for more memory than it may have{where}: keep less, such as a table of bounded size, or ask the"
        ' director for more: memory_bytes = "4 GiB" under [limits] in the tournament file'
    )


_ON_STDERR = {
    re.compile(r"SemLock|/dev/shm|shm_open|sem_open"): (
        "multiprocessing's locks, queues and pools need /dev/shm, which this bot may not use here: take threads, or"
        " multiprocessing.Process with a Pipe, which need none; arena home doctor says what this machine can do"
    ),
    re.compile(
        r"name resolution|Network is unreachable|urlopen error|ConnectionRefusedError|getaddrinfo|Name or service"
    ): "bots have no network: download what it needs beforehand and put it among the bot's files",
}


def _not_allowed(failure: Failure) -> str | None:
    return next((hint for pattern, hint in _ON_STDERR.items() if pattern.search(failure.stderr)), None)


def _no_program_file(failure: Failure) -> str | None:
    if (match := re.search(r"can't open file '([^']+)'", failure.stderr)) is None:
        return None
    where = "among the bot's files" if failure.is_submitted else f"in {failure.bot.directory}"
    return f"there is no file {Path(match[1]).name!r} {where}: correct the command in bot.toml"


def _files(failure: Failure) -> str | None:
    name, text = last_error(failure.stderr)
    match = re.search(r"'([^']+)'$", text)
    if name not in ("FileNotFoundError", "PermissionError", "IsADirectoryError", "OSError") or match is None:
        return None
    path = Path(failure.bot.directory, match[1])
    if name == "FileNotFoundError" and not exists(path):
        return f"there is no file {match[1]!r}; name files from the bot's own place: Path(__file__).parent / …"
    if failure.bot.own_files:
        return (
            f"it may not use {match[1]!r}: a bot that is a single file can read no other; put all into a directory"
            " with a bot.toml. It can write into $TMPDIR, and print to stderr"
        )
    return (
        f"it may not use {match[1]!r}: a bot can read the system and its own directory, and write into $TMPDIR"
        " alone; what it prints to stderr is kept"
    )


def _text_input(failure: Failure) -> str | None:
    name, _ = last_error(failure.stderr)
    if name not in ("UnicodeDecodeError", "EOFError"):
        return None
    if "input(" not in failure.stderr and "sys.stdin" not in failure.stderr and "codecs" not in failure.stderr:
        return None
    return (
        "messages are bytes, not lines of text: in Python let arena.botkit read them (run(choose)), or read"
        " sys.stdin.buffer as protocol.md says"
    )


def _exception(failure: Failure) -> str | None:
    name, text = last_error(failure.stderr)
    if not name or failure.fault.kind not in (FaultKind.EXIT, FaultKind.START):
        return None
    at = last_own_line(failure.stderr, failure.bot)
    if "takes" in text and "positional argument" in text and "choose" in text:
        given = "(turn)" if "but 1 was given" in text else "(game, state, clock)"
        return f"choose is called with {given} and must take these arguments ({text})"
    if "serialize" in text or "can't be packed" in text:
        return f"an action is made of plain numbers and lists ({text}): turn it into one with int(…) or .tolist()"
    where, what = f" at {at}" if at else "", shortened_text(text, MAX_EXCEPTION_CHARACTERS)
    return f"the program raised {name}{where}{': ' + what if what else ''}; nothing catches it, so it ends"


# causes that the messages and the clock show


def _swapped_length(failure: Failure) -> str | None:
    match = re.match(r"(?:before it was ready: )?a message of (\d+) bytes was announced", failure.detail)
    if match is None:
        return None
    swapped = int.from_bytes(int(match[1]).to_bytes(4, "little"), "big")
    if swapped >= SMALL_MESSAGE_BYTES:
        return None
    return (
        f"the four bytes of the length come with the highest first (big-endian); read so, these say {match[1]}, and"
        f" the other way round {swapped}"
    )


def _not_asked(failure: Failure) -> str | None:
    if UNASKED not in failure.detail and TOO_LONG not in failure.detail:
        return None
    return (
        "answer hello with one ready and each act with one action; match, update, end and quit want no answer, and"
        " what it prints goes to stderr"
    )


def _nothing_returned(failure: Failure) -> str | None:
    if not re.search(r"\bNone\b|\bnull\b", failure.detail) or failure.fault.kind not in (
        FaultKind.ILLEGAL,
        FaultKind.PROTOCOL,
    ):
        return None
    return "the action is None: choose returned nothing; every way through it must end in: return action"


def _ended(failure: Failure) -> str | None:
    if failure.fault.kind not in (FaultKind.START, FaultKind.EXIT):
        return None
    detail = failure.detail
    if failure.fault.kind == FaultKind.START and "exit status 0" in detail:
        if uses_botkit(failure.bot):
            return "the program came to its end without a word: does its last line call run(choose)?"
        return (
            "the program came to its end without answering: it must read messages in a loop until its input ends;"
            " in Python arena.botkit does that (run(choose))"
        )
    if "signal SIGSEGV" in detail or "signal SIGBUS" in detail or "signal SIGABRT" in detail or "SIGFPE" in detail:
        program = Path(failure.bot.command[0]).name
        return (
            f"{program} crashed in native code (a bad pointer, an index out of range, a failed assertion): compile"
            " it with -g -fsanitize=address,undefined and look at stderr, or run it under gdb as arena bot repro shows"
        )
    if "signal SIGSYS" in detail:
        return "it made a system call that bots may not make (docs/isolation.md lists them)"
    if failure.fault.kind == FaultKind.EXIT and "exit status 0" in detail:
        return (
            "the program came to its end in the middle of a match: read messages in a loop until quit comes or the"
            " input ends, and do not exit after an action or a match"
        )
    return None


def _illegal(failure: Failure) -> str | None:
    if failure.fault.kind != FaultKind.ILLEGAL or not uses_botkit(failure.bot):
        return None
    if failure.detail.startswith(("'", '"')):
        return "choose returned a text: game.parse_action(text) turns it into an action"
    return (
        "choose returned an action that is not legal: take one from game.legal_actions(state), or from turn.legal, and"
        " start every match afresh"
    )


def _printed(failure: Failure) -> str | None:
    head = failure.received[:64]
    if (
        failure.fault.kind not in (FaultKind.PROTOCOL, FaultKind.LIMIT, FaultKind.START, FaultKind.TIMEOUT)
        or len(head) < 2
    ):
        return None
    if failure.fault.kind == FaultKind.TIMEOUT and head[:1] == b"\0":
        return None
    text = head[:4] if len(head) >= 4 else head
    if not all(32 <= byte < 127 or byte in b"\t\r\n" for byte in text):
        return None
    shown = shortened_text(head.split(b"\n")[0].decode(errors="replace"))
    return (
        f"the bot printed text ({shown!r}) where a message belongs: nothing but frames may go to stdout, so print to"
        " stderr instead (Python: print(…, file=sys.stderr); C: fprintf(stderr, …)); an action is sent as"
        " protocol.md says"
    )


def _time(failure: Failure) -> str | None:
    waited, cpu = failure.waited_seconds, failure.cpu_seconds
    if waited is None or cpu is None:
        return None
    is_before_ready = "before it was ready" in failure.detail
    if STARVED in failure.detail:
        return (
            "it was ready to run, but other programs of this machine kept the processor busy: that says nothing about"
            " the bot; try again when the machine is idle"
        )
    if cpu >= BUSY_SHARE * waited:
        if is_before_ready:
            return "it was at work all that time before it was ready: prepare less, or only once a match begins"
        return (
            "it was at work all that time: a loop that does not end, or a search that does not look at the clock"
            " (with arena.botkit the third argument of choose, else the seconds in act)"
        )
    if cpu > IDLE_SHARE * waited:
        return None
    if failure.received:
        return (
            "an answer began and was not finished: the first four bytes announce how many follow; flush after each"
            " message"
        )
    if uses_botkit(failure.bot):
        moment = "before run(choose)" if is_before_ready else "in choose"
        return f"it hardly used the processor: it sleeps or waits {moment} for something that does not come"
    return (
        "it hardly used the processor, so it waits: for more bytes than were sent (read the four bytes of the"
        " length, then exactly that many; messages are no lines), in a sleep, or its answer stands in a buffer:"
        " flush stdout after each message"
    )


_CAUSES: tuple[Callable[[Failure], str | None], ...] = (
    _not_executed,
    _rules,
    _syntax,
    _missing_module,
    _no_program_file,
    _memory,
    _not_allowed,
    _text_input,
    _files,
    _exception,
    _nothing_returned,
    _illegal,
    _printed,
    _swapped_length,
    _not_asked,
    _ended,
    _time,
)
