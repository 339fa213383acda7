"""What a machine can safely offer to strangers, and what must be mended first: a sentence for each thing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from arena.base.records import MEBIBYTE, Limits
from arena.base.text import counted, short_size_text
from arena.community.submissions.upload_directory import SPARE_BYTES
from arena.server.operating.machine import Machine

GIBIBYTE = 1024 * MEBIBYTE
BOTS_OF_A_MATCH = 2
MATCHES_AT_ONCE = 2
"""One of a ladder, and one of the checker."""
ENOUGH_DISK_BYTES = 10 * GIBIBYTE
ENOUGH_DESCRIPTORS = 8192
"""For 4,000 readers of events, and requests beside them."""
ALLOWED_CLOCK_SECONDS = 60.0


class Verdict(StrEnum):
    """What is thought of a thing."""

    OK = "ok"
    NOTE = "note"
    MEND = "mend"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a thing: what is so, and what to do about it."""

    verdict: Verdict
    thing: str
    sentence: str


def findings(machine: Machine) -> list[Finding]:
    """Return what was found, in the order in which one mends it."""
    return [
        _packages(machine),
        _user(machine),
        _isolation(machine),
        _cores(machine),
        _memory(machine),
        _disk(machine),
        _descriptors(machine),
        _home(machine),
        _people(machine),
        *_operators(machine),
        _clock(machine),
        _address(machine),
        _https(machine),
    ]


def must_be_mended(found: list[Finding]) -> Iterator[Finding]:
    """Yield what must be mended before strangers enter."""
    return (finding for finding in found if finding.verdict is Verdict.MEND)


def _packages(machine: Machine) -> Finding:
    if machine.missing_packages:
        names = ", ".join(machine.missing_packages)
        return Finding(Verdict.MEND, "packages", f"missing: {names}; try: pip install 'grid-arena[web]'.")
    return Finding(Verdict.OK, "packages", "what the site needs is installed.")


def _user(machine: Machine) -> Finding:
    if machine.is_root:
        return Finding(
            Verdict.NOTE, "user", "this is root; a user of its own should run the arena: useradd --system arena."
        )
    return Finding(Verdict.OK, "user", "an ordinary user, not root.")


def _isolation(machine: Machine) -> Finding:
    if machine.refusal:
        return Finding(Verdict.MEND, "uploads", f"none are taken from strangers, for they {_about(machine.refusal)}.")
    return Finding(Verdict.OK, "uploads", f"they {_about(machine.containment)}.")


def _about(sentence: str) -> str:
    return sentence.removeprefix("uploads ")


def _cores(machine: Machine) -> Finding:
    if machine.cores == 1:
        return Finding(Verdict.NOTE, "cores", "one core: the site, the checker and a ladder share it; two are better.")
    playing = counted(machine.cores - 1, "match")
    return Finding(Verdict.OK, "cores", f"{machine.cores}: a ladder plays up to {playing} at a time.")


def _memory(machine: Machine) -> Finding:
    wanted = Limits().memory_bytes
    if machine.memory_bytes is None:
        return Finding(Verdict.NOTE, "memory", "its size is unknown here.")
    size = short_size_text(machine.memory_bytes)
    allowed = f"a bot may use {short_size_text(wanted)}, unless a ladder's file says memory_bytes"
    if machine.memory_bytes < wanted:
        return Finding(
            Verdict.MEND, "memory", f"{size}, and {allowed}: one bot can take all of it; add memory or set it."
        )
    if machine.memory_bytes < wanted * BOTS_OF_A_MATCH * MATCHES_AT_ONCE:
        return Finding(Verdict.NOTE, "memory", f"{size}, and {allowed}: four greedy bots at once don't fit.")
    return Finding(Verdict.OK, "memory", f"{size}, and {allowed}.")


def _disk(machine: Machine) -> Finding:
    free = short_size_text(machine.disk_free_bytes)
    if machine.disk_free_bytes < SPARE_BYTES:
        least = short_size_text(SPARE_BYTES)
        return Finding(Verdict.MEND, "disk", f"{free} free: below {least} nothing is taken any more; make room.")
    if machine.disk_free_bytes < ENOUGH_DISK_BYTES:
        return Finding(Verdict.NOTE, "disk", f"{free} free, which is little for uploads and records; watch it.")
    return Finding(Verdict.OK, "disk", f"{free} free.")


def _descriptors(machine: Machine) -> Finding:
    count = f"{machine.descriptors:,}" if machine.descriptors >= 0 else "any number of"
    if 0 <= machine.descriptors < ENOUGH_DESCRIPTORS:
        sentence = f"a process may open {count}: fewer visitors fit; set LimitNOFILE=65536, or ulimit -Hn."
        return Finding(Verdict.NOTE, "files", sentence)
    return Finding(Verdict.OK, "files", f"a process may open {count}.")


def _home(machine: Machine) -> Finding:
    if machine.home_problem:
        return Finding(Verdict.MEND, "home", f"{machine.home_problem}.")
    if machine.home_mode is None:
        return Finding(Verdict.NOTE, "home", "it does not exist yet; arena people add makes it.")
    if not machine.is_home_own:
        return Finding(Verdict.MEND, "home", "it belongs to another user; run this as that user, or chown it.")
    if machine.home_mode & 0o022:
        return Finding(Verdict.MEND, "home", f"others can write in it (mode {machine.home_mode:04o}): chmod 0700 it.")
    if machine.home_mode & 0o055:
        sentence = f"others on this machine can look into it (mode {machine.home_mode:04o}): chmod 0700 it."
        return Finding(Verdict.NOTE, "home", sentence)
    return Finding(Verdict.OK, "home", f"the results can be opened, and it is private (mode {machine.home_mode:04o}).")


def _people(machine: Machine) -> Finding:
    if machine.people_problem:
        return Finding(Verdict.MEND, "people", f"{machine.people_problem}.")
    if machine.people_mode is not None and machine.people_mode & 0o077:
        sentence = f"others can read people.sqlite3 (mode {machine.people_mode:04o}): chmod 0600 it."
        return Finding(Verdict.MEND, "people", sentence)
    if machine.operators is None:
        return Finding(Verdict.OK, "people", "there is no database of people yet.")
    return Finding(Verdict.OK, "people", "their database can be opened, by this user alone.")


def _operators(machine: Machine) -> Iterator[Finding]:
    if machine.people_problem:
        return
    if not machine.operators and machine.invited_operators:
        name = machine.invited_operators[0]
        sentence = f"{name} is invited but has not opened the link yet; a new one: arena people link {name}."
        yield Finding(Verdict.MEND, "operators", sentence)
    elif not machine.operators:
        sentence = "nobody can sign in who manages people: arena people add NAME --role operator."
        yield Finding(Verdict.MEND, "operators", sentence)
    else:
        yield Finding(Verdict.OK, "operators", f"{counted(machine.operators, 'operator')} can sign in.")


def _clock(machine: Machine) -> Finding:
    if machine.clock_behind_seconds > ALLOWED_CLOCK_SECONDS:
        sentence = "the results were changed in its future: set the clock, for deadlines are kept by it."
        return Finding(Verdict.MEND, "clock", sentence)
    if machine.is_clock_kept is False:
        sentence = "nothing keeps it right, and deadlines are kept by it: install chrony or systemd-timesyncd."
        return Finding(Verdict.NOTE, "clock", sentence)
    known = "kept right by the system" if machine.is_clock_kept else "plausible"
    return Finding(Verdict.OK, "clock", f"{known}.")


def _address(machine: Machine) -> Finding:
    if machine.is_served:
        return Finding(Verdict.OK, "address", "the site of this home runs now.")
    if machine.port_problem:
        why = machine.port_problem.lower()
        sentence = f"can't be listened on: {why}; choose another --port, unless arena-web.socket has it."
        return Finding(Verdict.MEND, "address", sentence)
    return Finding(Verdict.OK, "address", "free to be listened on.")


def _https(machine: Machine) -> Finding:
    if machine.has_https:
        sentence = "something answers on port 443; name it with --trusted-proxy 127.0.0.1 if it passes requests on."
        return Finding(Verdict.OK, "https", sentence)
    sentence = (
        "nothing answers on port 443 here: over a network, accounts need a web server with a certificate in front"
        " (docs/operators.md), and --trusted-proxy with its address."
    )
    return Finding(Verdict.NOTE, "https", sentence)
