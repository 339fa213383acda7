"""The table of executors, and the one door to them: ``open_executor``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from arena.base.errors import UsageError
from arena.match.players.building import build_bots
from arena.match.players.function_player import isolation_for
from arena.tournament.executors.executor import Executor, Job


class ExecutorKind(NamedTuple):
    """A kind of executor: the URLs it accepts, an example for the conformance suite, and what opens one, or None."""

    urls: tuple[str, ...]
    example: str
    open: Callable[[str, Job], Executor | None]


def open_executor(url: str, job: Job) -> Executor:
    """Return the executor that a URL names, ready to be entered, with the bots of its job built.

    Args:
        url: "local", "in-process", "dask://HOST:PORT" (``dask+tls://HOST:PORT`` for another protocol than TCP), or
            "dask://local?processes=N" for a cluster on this machine.

    Raises:
        UsageError: if the URL is not accepted, or the bots can't be sent to other machines.
        BotDefinitionError: if a bot has to be built first, and can't be.
        ClusterError: if a package that the executor needs is not installed.
    """
    kind = EXECUTORS.get(re.split(r"\+|:", url)[0])
    executor = None
    if kind is not None:
        build_bots(job.bots, isolation_for(job.bots, job.isolation))
        executor = kind.open(url, job)
    if executor is None:
        accepted = [form for kind in EXECUTORS.values() for form in kind.urls]
        raise UsageError(f"executor {url!r}: expected {', '.join(accepted[:-1])} or {accepted[-1]}")
    return executor


def _open_local(url: str, job: Job) -> Executor | None:
    from arena.tournament.executors.local import LocalExecutor

    return LocalExecutor(job) if url == "local" else None


def _open_in_process(url: str, job: Job) -> Executor | None:
    from arena.tournament.executors.in_process import InProcessExecutor

    return InProcessExecutor(job) if url == "in-process" else None


def _open_dask(url: str, job: Job) -> Executor | None:
    here = re.fullmatch(r"dask://local(?:\?processes=([1-9][0-9]{0,3}))?", url)
    there = re.fullmatch(r"dask(?:\+([a-z]+))?://([^?\s]+)", url)
    if here is None and (there is None or not _is_address(there[2])):
        return None
    from arena.tournament.executors.dask import DaskExecutor  # needs an optional package

    if here is not None:
        return DaskExecutor(job, processes=int(here[1]) if here[1] else None)
    return DaskExecutor(job, f"{there[1] or 'tcp'}://{there[2]}") if there is not None else None


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(f"//{text}")
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number up to 65535, or an unfinished IPv6 address
        return False


EXECUTORS = {
    "local": ExecutorKind(("local",), "local", _open_local),
    "in-process": ExecutorKind(("in-process",), "in-process", _open_in_process),
    "dask": ExecutorKind(("dask://HOST:PORT", "dask://local?processes=N"), "dask://local?processes=2", _open_dask),
}
