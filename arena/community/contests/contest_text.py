"""A contest as TOML text: writing it, and reading it in a process of its own."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any

from arena.base.errors import DefinitionError, UsageError
from arena.base.programs.service_program import starting_process
from arena.base.records import DEFAULT_LIMITS
from arena.base.stored import from_json_text, from_stored, mapping_of
from arena.base.text import toml_text
from arena.store.people.contest import Contest, ContestEntrants, ContestReading, ContestResults, StageRules


def contest_text(contest: Contest) -> str:
    """Return a contest as text. Reading it gives the same contest."""
    return "\n".join(_lines(contest)) + "\n"


def _lines(contest: Contest) -> Iterator[str]:
    for key in ("name", "title", "description", "game", "options"):
        yield _line(key, getattr(contest, key))
    for key in ("opens_at", "deadline_at"):
        yield f"{key} = {_local(contest, getattr(contest, key))}"
    yield _line("time_zone", contest.time_zone)
    yield _line("entrants", contest.entrants)
    if contest.entrants is ContestEntrants.INVITED:
        yield _line("invited", contest.invited)
    yield _line("bots_per_author", contest.bots_per_author)
    yield _line("house_bots", contest.house_bots)
    yield _line("results", contest.results)
    if contest.results is ContestResults.FROZEN:
        yield _line("frozen_hours", contest.frozen_hours)
    if contest.reveal_at is not None:
        yield f"reveal_at = {_local(contest, contest.reveal_at)}"
    if contest.ladders:
        yield _line("ladders", contest.ladders)
    yield from _table("time_control", asdict(contest.time_control))
    limits, defaults = asdict(contest.limits), asdict(DEFAULT_LIMITS)
    yield from _table("limits", {key: value for key, value in limits.items() if value != defaults[key]})
    if contest.qualification is not None:
        yield from _stage("qualification", contest.qualification)
    yield from _stage("final", contest.final)


def _local(contest: Contest, at: str) -> str:
    return contest.local(at).replace(tzinfo=None, fold=0).isoformat(timespec="seconds")


def _stage(name: str, stage: StageRules) -> Iterator[str]:
    values = asdict(stage)
    settings, until = values.pop("settings"), values.pop("until")
    if until is not None:
        del values["encounters"]
    choice = values.pop("opening_choice")
    if choice is not None:
        values["openings"] = {"plies": values.pop("opening_plies"), "choose": choice}
    yield from _table(name, values)
    if until is not None:
        yield from _table(f"{name}.until", until)
    if settings:
        yield from _table(f"{name}.{stage.format.replace('-', '_')}", settings)


def _table(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    given = {key: value for key, value in values.items() if value is not None}
    if given:
        yield from ("", f"[{name}]", *(_line(key, value) for key, value in given.items()))


def _line(key: str, value: Any) -> str:
    return f"{key} = {toml_text(value)}"


# Reading a contest in a process of its own: who answers requests loads no formats and runs no rules of games.

TIMEOUT_SECONDS = 20.0


def read_apart(text: str, where: str = "contest") -> ContestReading:
    """Return what can be read of a text, and every mistake; raise DefinitionError if it is no TOML, or too long."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_read, args=(text, where, sending), daemon=True)
    with receiving:
        try:
            with sending, starting_process():
                process.start()
            data = receiving.recv_bytes() if receiving.poll(TIMEOUT_SECONDS) else b""
        except EOFError:
            data = b""
        finally:
            if process.pid is not None:
                process.kill()
                process.join()
    if not data:
        raise UsageError(f"{where}: it can't be read now; try again")
    answer = mapping_of(from_json_text(data.decode(), where), where)
    if "refusal" in answer:
        raise DefinitionError(str(answer["refusal"]))
    return from_stored(ContestReading, answer["reading"], where)


def _read(text: str, where: str, sending: Connection) -> None:
    """Read a text and send what it means, or what is wrong, as JSON. Runs in the process."""
    from arena.community.contests.contest_file import reading_of

    try:
        answer: dict[str, object] = {"reading": asdict(reading_of(text, where))}
    except DefinitionError as error:
        answer = {"refusal": str(error)}
    sending.send_bytes(json.dumps(answer).encode())
