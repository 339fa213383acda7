"""Plays match specs on a cluster with Dask.distributed. Needs the extra ``dask``; imported only where it is used.

- A bounded window of tasks is on its way, each a few matches, so that dispatching costs little beside playing.
- A result is taken at once and its task forgotten: tasks that are held are run again when a worker dies.
- A task of a worker that died is run again elsewhere by the scheduler; one of a worker that is frozen (its heartbeat
  has stopped) is given to another one as well. Whichever comes first counts; so a match is played at least once and
  recorded once.
- When the scheduler is gone, the run ends with a sentence; what was recorded stays, and the same command goes on.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import islice
from types import TracebackType
from typing import Any

from arena.errors import ClusterError
from arena.executors.dask_worker import Node, NodeSettings
from arena.executors.executor import Executor, JobResult, Void
from arena.executors.work_queue import WorkQueue
from arena.executors.worker_start import end_if_importing, try_to_start
from arena.records import MatchSpec

try:
    import distributed as _distributed
    from distributed.diagnostics.plugin import WorkerPlugin
except ImportError:
    raise ClusterError("a cluster needs the package distributed; try: pip install 'grid-arena[dask]'") from None

distributed: Any = _distributed  # its constructors are not typed

TASKS_PER_CORE = 4
TASK_SECONDS = 0.25
MAX_MATCHES_IN_TASK = 64
CONNECT_SECONDS = 15
WORKERS_SECONDS = 30
REFRESH_SECONDS = 0.25
LOOK_SECONDS = 2.0
"""How often workers are looked at while no result comes."""

FROZEN_SECONDS = 20.0
"""A worker whose heartbeat has stopped for so long is given up."""

GONE_SECONDS = 15.0
LEAVING_SECONDS = 3.0
FETCH_SECONDS = 5.0

log = logging.getLogger("arena.cluster")
_nodes: dict[str, Node] = {}
"""On a worker: the prepared nodes, by the name of their plugin."""


class _Prepare(WorkerPlugin):
    """Prepares every worker, also one that joins later."""

    def __init__(self, name: str, settings: NodeSettings) -> None:
        self.name = name
        self._settings = settings

    def setup(self, worker: Any) -> None:
        _nodes[self.name] = Node(self._settings)

    def teardown(self, worker: Any) -> None:
        node = _nodes.pop(self.name, None)
        if node is not None:
            node.close()


def _play(name: str, specs: list[MatchSpec]) -> list[JobResult]:
    return _nodes[name].play(specs)


class _Task:
    """Matches on their way, and since when."""

    def __init__(self, specs: list[MatchSpec]) -> None:
        self.specs = specs
        self.started = time.monotonic()
        self.futures: list[Any] = []


class ClusterExecutor(Executor):
    """Plays match specs on a cluster. A context manager: leaving it ends the bots on every worker."""

    def __init__(
        self,
        settings: NodeSettings,
        address: str | None = None,
        local_workers: int = 2,
        frozen_seconds: float = FROZEN_SECONDS,
    ) -> None:
        """Prepare an executor.

        Args:
            settings: for every worker.
            address: of the scheduler, such as ``tcp://host:8786``; None for a cluster on this machine.
            local_workers: how many processes that one has.
            frozen_seconds: after so long without a heartbeat a worker is given up.
        """
        self._settings = settings
        self._address = address
        self._local_workers = local_workers
        self._frozen_seconds = frozen_seconds
        digest = blake2b(digest_size=8)
        for parcel in settings.parcels:
            digest.update(f"{parcel.bot}".encode())
        digest.update(f"{settings.isolation} {settings.limits} {settings.fresh_bots} {time.time_ns()}".encode())
        self._name = f"arena-{digest.hexdigest()}"
        self._cluster: Any = None
        self._client: Any = None
        self._tasks: dict[str, _Task] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._seconds_a_match = TASK_SECONDS
        self._looked_at = 0.0

    def __enter__(self) -> ClusterExecutor:
        """Connect, and prepare the workers.

        Raises:
            ClusterError: if the cluster can't be reached, has no workers, or they can't be prepared.
            UsageError: if no process can be started for a cluster on this machine.
        """
        end_if_importing()
        if self._address is None:
            try_to_start()
            try:
                self._cluster = distributed.LocalCluster(
                    n_workers=self._local_workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            except Exception as error:
                raise ClusterError(f"cluster {self._shown}: it can't be started: {_brief(error)}") from error
        try:
            self._client = distributed.Client(self._cluster or self._address, timeout=CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"cluster {self._address!r}: can't be reached ({_brief(error)}); expected the address of a Dask"
                " scheduler, such as tcp://host:8786"
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            self._client.register_plugin(_Prepare(self._name, self._settings))
        except TimeoutError as error:
            self._leave()
            raise ClusterError(
                f"cluster {self._shown}: it has no workers; start some with: dask worker ADDRESS"
            ) from error
        except Exception as error:
            self._leave()
            raise ClusterError(f"cluster {self._shown}: its workers can't be prepared: {_brief(error)}") from error
        log.info("cluster %s: %d workers", self._shown, len(self._workers()))
        return self

    @property
    def _shown(self) -> str:
        return repr(self._address) if self._address else "on this machine"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for task in self._tasks.values():
            with contextlib.suppress(Exception):
                self._client.cancel(task.futures, force=True)
        self._leave()

    def _leave(self) -> None:
        if self._client is not None:
            if self._client.status == "running":
                _with_patience(lambda: self._client.unregister_worker_plugin(self._name))
            with contextlib.suppress(Exception):
                self._client.close(timeout=5)
        if self._cluster is not None:
            with contextlib.suppress(Exception):
                self._cluster.close(timeout=10)

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches; a few tasks for each core are on their way.

        Raises:
            ClusterError: if the cluster is lost.
        """
        while not queue.is_finished():
            self._hand_out(queue)
            yield self._collect()

    def _hand_out(self, queue: WorkQueue) -> None:
        window = TASKS_PER_CORE * max(1, sum(self._workers().values()))
        size = max(1, min(MAX_MATCHES_IN_TASK, int(TASK_SECONDS / self._seconds_a_match)))
        while len(self._tasks) < window:
            specs = list(islice(iter(queue.take, None), size))
            if not specs:
                return
            self._submit(_Task(specs))

    def _submit(self, task: _Task, workers: list[str] | None = None) -> None:
        future = self._client.submit(
            _play, self._name, task.specs, pure=False, retries=0, workers=workers, allow_other_workers=False
        )
        task.futures.append(future)
        self._tasks[future.key] = task
        future.add_done_callback(self._done.put)

    def _workers(self) -> dict[str, int]:
        """Return how many matches each worker can play at a time."""
        with contextlib.suppress(Exception):
            return {address: int(cores) for address, cores in self._client.ncores().items()}
        return {}

    def _collect(self) -> list[JobResult]:
        """Wait for tasks to end; return what came of them."""
        results: list[JobResult] = []
        try:
            futures = [self._done.get(timeout=REFRESH_SECONDS)]
        except queue.Empty:
            self._look_after_workers()
            return []
        with contextlib.suppress(queue.Empty):
            while True:
                futures.append(self._done.get_nowait())
        for future in futures:
            task = self._tasks.pop(future.key, None)
            if task is not None:
                results += self._result(future, task)
        return results

    def _result(self, future: Any, task: _Task) -> list[JobResult]:
        """Return what came of a task, and forget its twins."""
        if future.status == "cancelled":
            self._complain_if_gone()
            if not any(other.key in self._tasks for other in task.futures):
                self._submit(task)
            return []
        try:
            results: list[JobResult] = future.result(timeout=FETCH_SECONDS)
        except TimeoutError:  # it was played, but the result lies on a worker that does not answer
            self._complain_if_gone()
            log.warning("%d matches are played again: their worker does not answer", len(task.specs))
            self._submit(task)
            return []
        except Exception as error:  # the worker died too often, or what it ran failed: void, and played again
            self._complain_if_gone()
            results = [Void(spec, f"the cluster: {_brief(error)}") for spec in task.specs]
        for twin in task.futures:
            self._tasks.pop(twin.key, None)
            twin.release()
        took = (time.monotonic() - task.started) / len(task.specs) / TASKS_PER_CORE
        self._seconds_a_match = 0.8 * self._seconds_a_match + 0.2 * max(1e-4, took)
        return results

    def _look_after_workers(self) -> None:
        """Give tasks of frozen workers to others; notice when the scheduler is gone."""
        now = time.monotonic()
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now
        self._complain_if_gone()
        try:
            seen = {
                address: worker["last_seen"]
                for address, worker in self._client.scheduler_info(n_workers=-1)["workers"].items()
            }
            processing = self._client.processing()
        except Exception as error:
            log.warning("the scheduler does not answer: %s", _brief(error))
            return
        latest = max([time.time() - self._frozen_seconds, *seen.values()])
        frozen = [address for address, last in seen.items() if latest - last > self._frozen_seconds]
        healthy = [address for address in seen if address not in frozen]
        if not frozen or not healthy:
            return
        for address in frozen:
            for key in processing.get(address, ()):
                task = self._tasks.get(key)
                if task is not None and len(task.futures) == 1:
                    log.warning("worker %s is frozen; %d matches are given to another", address, len(task.specs))
                    self._submit(task, workers=healthy)

    def _complain_if_gone(self) -> None:
        """Raise ClusterError if the scheduler stays away."""
        deadline = time.monotonic() + GONE_SECONDS
        while self._client.status != "running":
            if time.monotonic() > deadline or self._client.status in ("closed", "closing"):
                raise ClusterError(
                    f"cluster {self._shown}: its scheduler is gone; what was recorded stays, and the same command goes"
                    " on"
                )
            time.sleep(REFRESH_SECONDS)


def _with_patience(work: Callable[[], object]) -> None:
    """Do something that waits for every worker, but don't wait for a frozen one."""

    def attempt() -> None:
        with contextlib.suppress(Exception):
            work()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(LEAVING_SECONDS)


def _brief(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:300] or type(error).__name__
