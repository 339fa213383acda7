"""Reading a contest in a process of its own: who answers requests loads no formats and runs no rules of games."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import asdict
from multiprocessing.connection import Connection

from arena.base.errors import DefinitionError, UsageError
from arena.base.programs.service_program import starting_process
from arena.base.stored import from_json_text, from_stored, mapping_of
from arena.store.people.contest import ContestReading

TIMEOUT_SECONDS = 20.0


def read_apart(text: str, where: str = "contest") -> ContestReading:
    """Return what can be read of the TOML text of a contest, and every mistake in it.

    Args:
        text: the text.
        where: it comes from; begins messages.

    Raises:
        DefinitionError: if it is no TOML, or too long.
        UsageError: if it can't be read now.
    """
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
