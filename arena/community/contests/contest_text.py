"""A contest as TOML text: writing it, reading it in a process of its own, announcing it, and texts to begin with."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from arena.base.errors import DefinitionError, Mistake, UnknownNameError, UsageError
from arena.base.programs.service_program import starting_process
from arena.base.records import DEFAULT_LIMITS
from arena.base.shipped import path_of
from arena.base.stored import from_json_text, from_stored, mapping_of
from arena.base.text import toml_text
from arena.store.people.contest import KEYS, TIMES, Contest, ContestReading, StageRules, StoredContest

if TYPE_CHECKING:
    from arena.store.people.people_store import PeopleStore
    from arena.store.results.store import Store


def contest_text(contest: Contest) -> str:
    """Return a contest as text. Reading it gives the same contest."""
    return "\n".join(_lines(contest)) + "\n"


def _lines(contest: Contest) -> Iterator[str]:
    for key in KEYS:
        if contest.uses(key):
            value = getattr(contest, key)
            yield f"{key} = {local_text(contest, value)}" if key in TIMES else _line(key, value)
    yield from _table("time_control", asdict(contest.time_control))
    limits, defaults = asdict(contest.limits), asdict(DEFAULT_LIMITS)
    yield from _table("limits", {key: value for key, value in limits.items() if value != defaults[key]})
    if contest.qualification is not None:
        yield from _stage("qualification", contest.qualification)
    yield from _stage("final", contest.final)


def local_text(contest: Contest, at: str) -> str:
    """Return a time (UTC) as the clocks of a contest show it, without their time zone."""
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


# A process of its own reads a contest, so that the web process loads no formats and runs no rules of games.

TIMEOUT_SECONDS = 20.0


def read_apart(text: str) -> ContestReading:
    """Return what can be read of a text, and every mistake; raise DefinitionError if it is no TOML, or too long."""
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_read_and_send, args=(text, sending), daemon=True)
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
        raise UsageError("contest: it can't be read now; try again")
    answer = mapping_of(from_json_text(data.decode(), "contest"), "contest")
    if "refusal" in answer:
        raise DefinitionError(str(answer["refusal"]))
    return from_stored(ContestReading, answer["reading"], "contest")


def _read_and_send(text: str, sending: Connection) -> None:
    """Read a text, and send the reading or the refusal as JSON. Runs in the process that ``read_apart`` starts."""
    from arena.community.contests.contest_file import reading_of

    try:
        answer: dict[str, object] = {"reading": asdict(reading_of(text))}
    except DefinitionError as error:
        answer = {"refusal": str(error)}
    sending.send_bytes(json.dumps(answer).encode())


def announce(store: Store, people: PeopleStore, by: str, new: ContestReading) -> StoredContest:
    """Announce a contest; raise ContestError with everything that is wrong, taken names of tournaments included."""
    return people.contests.add(by, new, _taken_names(store, new))


def change(
    store: Store, people: PeopleStore, by: str, before: Contest, new: ContestReading, reason: str
) -> StoredContest:
    """Change what can still be changed of a contest; raise ContestError with everything that is wrong."""
    return people.contests.change(by, before.name, new, reason, _taken_names(store, new, before.tournaments), before)


def _taken_names(store: Store, new: ContestReading, own: Collection[str] = ()) -> list[Mistake]:
    names = new.contest.tournaments if new.has_right("name") else ()
    taken = [name for name in names if name not in own and store.find_tournament(name) is not None]
    return [Mistake("name", f"there is a tournament {name!r} already") for name in taken]


_DIRECTORY = path_of("arena.community.contests") / "templates"
DAYS = 7
"""From the opening to the deadline."""


def template_names() -> tuple[str, ...]:
    """Return the names of the templates."""
    return tuple(sorted(path.stem for path in _DIRECTORY.glob("*.toml")))


def template_summary(template: str) -> str:
    """Return what a template is for, from its first line."""
    first = (_DIRECTORY / f"{template}.toml").read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2].removesuffix(".")


def template_text(template: str, name: str, time_zone: str, today: datetime) -> str:
    """Return the text of a contest that opens tomorrow at eight and lasts a week; ``today`` is the time in its zone."""
    if template not in template_names():
        raise UnknownNameError("template", template, template_names())
    opens_at = today.replace(hour=8, minute=0, second=0, microsecond=0, tzinfo=None) + timedelta(days=1)
    deadline_at = opens_at.replace(hour=23, minute=59, second=59) + timedelta(days=DAYS)
    values = {
        "NAME": name,
        "TITLE": name.capitalize(),
        "OPENS_AT": opens_at.isoformat(),
        "DEADLINE_AT": deadline_at.isoformat(),
        "REVEAL_AT": (deadline_at + timedelta(days=1)).isoformat(),
        "TIME_ZONE": time_zone,
    }
    text = (_DIRECTORY / f"{template}.toml").read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text
