"""Plays matches on a cluster with Dask.distributed. Needs the extra ``dask``; imported only where it is used.

- A bounded number of tasks is in flight, each with a few matches, so that dispatching costs little compared to playing.
- A result is fetched at once and its task released: Dask repeats the tasks that are held when a worker dies.
- The scheduler repeats a task elsewhere if its worker dies. If a worker is frozen (its heartbeat has stopped), the
  executor submits its tasks to another one as well. The first result counts, so a match is played at least once and
  recorded once.
- If the scheduler is lost, the run ends with an error; the same command resumes it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, ClassVar, Self
from uuid import uuid4

from arena.base.errors import ClusterError
from arena.base.records import MatchSpec
from arena.tournament.executors.dask_worker import DaskWorker, DaskWorkerSettings, pack_bot
from arena.tournament.executors.executor import Executor, Job, JobResult, Void, WorkQueue
from arena.tournament.executors.worker_start import end_if_importing, try_to_start, workers_that_fit

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
HEARTBEAT_CHECK_SECONDS = 2.0
"""How often heartbeats are checked while no result comes in."""

FROZEN_SECONDS = 20.0
"""A worker without a heartbeat for this long counts as frozen."""

RECONNECT_SECONDS = 15.0
SHUTDOWN_SECONDS = 3.0
FETCH_SECONDS = 5.0

log = logging.getLogger("arena.cluster")

_dask_workers: dict[str, DaskWorker] = {}
"""In a process of the cluster: what plays there, by the name of its plugin."""


class _Plugin(WorkerPlugin):
    def __init__(self, name: str, settings: DaskWorkerSettings) -> None:
        self.name = name
        self._settings = settings

    def setup(self, worker: Any) -> None:
        _dask_workers[self.name] = DaskWorker(self._settings)

    def teardown(self, worker: Any) -> None:
        prepared = _dask_workers.pop(self.name, None)
        if prepared is not None:
            prepared.close()


def _play(name: str, specs: list[MatchSpec]) -> list[JobResult]:
    return _dask_workers[name].play(specs)


class _Task:
    def __init__(self, specs: list[MatchSpec]) -> None:
        self.specs = specs
        self.started = time.monotonic()
        self.futures: list[Any] = []


class DaskExecutor(Executor):
    """Plays matches on a Dask cluster. Leaving the context ends the bots on every worker."""

    takes_new_bots: ClassVar[bool] = False

    def __init__(
        self,
        job: Job,
        address: str | None = None,
        processes: int | None = None,
        frozen_seconds: float = FROZEN_SECONDS,
    ) -> None:
        archives = tuple(pack_bot(bot) for bot in job.bots)
        self._settings = DaskWorkerSettings(archives, job.isolation, job.limits, job.fresh_bots)
        self._address = address
        self._processes = processes or (0 if address else workers_that_fit(job.limits))
        self._frozen_seconds = frozen_seconds
        self._name = f"arena-{uuid4().hex}"
        self._cluster: Any = None
        self._client: Any = None
        self._tasks: dict[str, _Task] = {}
        self._finished: SimpleQueue[Any] = SimpleQueue()
        self._seconds_per_match = TASK_SECONDS
        self._checked_at = 0.0

    def __enter__(self) -> Self:
        end_if_importing()
        try:
            self._client = self._connect()
            self._prepare_workers()
        except BaseException:
            self._leave()
            raise
        return self

    def _connect(self) -> Any:
        if self._address is None:
            try_to_start()
            try:
                self._cluster = distributed.LocalCluster(
                    n_workers=self._processes,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",  # a second cluster here must not complain of a port in use
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            except Exception as error:
                raise ClusterError(f"cluster {self._where}: it can't be started: {_shortened(error)}") from error
        try:
            return distributed.Client(self._cluster or self._address, timeout=CONNECT_SECONDS)
        except Exception as error:  # Dask has many kinds: tls:// without certificates is a TypeError
            raise ClusterError(
                f"cluster {self._where}: can't be reached ({_shortened(error)}); expected the address of a Dask"
                " scheduler, such as tcp://host:8786"
            ) from error

    def _prepare_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            self._client.register_plugin(_Plugin(self._name, self._settings))
        except TimeoutError as error:
            raise ClusterError(
                f"cluster {self._where}: it has no workers; start some with: dask worker ADDRESS"
            ) from error
        except Exception as error:
            raise ClusterError(f"cluster {self._where}: its workers can't be prepared: {_shortened(error)}") from error
        log.info("cluster %s: %d workers", self._where, len(self._workers()))

    @property
    def _where(self) -> str:
        return repr(self._address) if self._address else "on this machine"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for task in self._tasks.values():
            with contextlib.suppress(Exception):
                self._client.cancel(task.futures, force=True)
        self._leave()

    def _leave(self) -> None:
        if self._client is not None:
            if self._client.status == "running":
                _run_briefly(lambda: self._client.unregister_worker_plugin(self._name))
            with contextlib.suppress(Exception):
                self._client.close(timeout=5)
        if self._cluster is not None:
            with contextlib.suppress(Exception):
                self._cluster.close(timeout=10)

    def run(self, queue: WorkQueue) -> Iterator[list[JobResult]]:
        """Play matches; each core of the cluster has a few tasks, so that it never waits for the next one."""
        while not queue.is_finished():
            self._hand_out(queue)
            yield self._collect()

    def _hand_out(self, queue: WorkQueue) -> None:
        window = TASKS_PER_CORE * max(1, sum(self._workers().values()))
        size = max(1, min(MAX_MATCHES_IN_TASK, int(TASK_SECONDS / self._seconds_per_match)))
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
        future.add_done_callback(self._finished.put)

    def _workers(self) -> dict[str, int]:
        with contextlib.suppress(Exception):
            return {address: int(cores) for address, cores in self._client.ncores().items()}
        return {}

    def _collect(self) -> list[JobResult]:
        results: list[JobResult] = []
        try:
            futures = [self._finished.get(timeout=REFRESH_SECONDS)]
        except Empty:
            self._check_heartbeats()
            return []
        with contextlib.suppress(Empty):
            while True:
                futures.append(self._finished.get_nowait())
        for future in futures:
            task = self._tasks.pop(future.key, None)
            if task is not None:
                results += self._result(future, task)
        return results

    def _result(self, future: Any, task: _Task) -> list[JobResult]:
        if future.status == "cancelled":
            self._wait_for_scheduler()
            if not any(other.key in self._tasks for other in task.futures):
                self._submit(task)
            return []
        try:
            results: list[JobResult] = future.result(timeout=FETCH_SECONDS)
            if [result.match for result in results] != [spec.match for spec in task.specs]:
                raise ClusterError("a worker answered with results of other matches")
        except TimeoutError:  # it was played, but the worker that holds the result does not answer
            self._wait_for_scheduler()
            log.warning("%d matches are played again: their worker does not answer", len(task.specs))
            self._submit(task)
            return []
        except Exception as error:  # several workers died with it, or the task itself failed
            self._wait_for_scheduler()
            results = [Void(spec, f"the cluster: {_shortened(error)}") for spec in task.specs]
        for other in task.futures:
            self._tasks.pop(other.key, None)
            other.release()
        took = (time.monotonic() - task.started) / len(task.specs) / TASKS_PER_CORE
        self._seconds_per_match = 0.8 * self._seconds_per_match + 0.2 * max(1e-4, took)
        return results

    def _check_heartbeats(self) -> None:
        now = time.monotonic()
        if now - self._checked_at < HEARTBEAT_CHECK_SECONDS:
            return
        self._checked_at = now
        self._wait_for_scheduler()
        try:
            heartbeats = {
                address: worker["last_seen"]
                for address, worker in self._client.scheduler_info(n_workers=-1)["workers"].items()
            }
            processing = self._client.processing()
        except Exception as error:
            log.warning("the scheduler does not answer: %s", _shortened(error))
            return
        latest = max([time.time() - self._frozen_seconds, *heartbeats.values()])
        frozen = [address for address, last in heartbeats.items() if latest - last > self._frozen_seconds]
        healthy = [address for address in heartbeats if address not in frozen]
        if not frozen or not healthy:
            return
        for address in frozen:
            for key in processing.get(address, ()):
                task = self._tasks.get(key)
                if task is not None and len(task.futures) == 1:
                    log.warning("worker %s is frozen; %d matches are submitted to another", address, len(task.specs))
                    self._submit(task, workers=healthy)

    def _wait_for_scheduler(self) -> None:
        deadline = time.monotonic() + RECONNECT_SECONDS
        while self._client.status != "running":
            if time.monotonic() > deadline or self._client.status in ("closed", "closing"):
                raise ClusterError(f"cluster {self._where}: its scheduler is lost; the same command resumes the run")
            time.sleep(REFRESH_SECONDS)


def _run_briefly(work: Callable[[], object]) -> None:
    def attempt() -> None:
        with contextlib.suppress(Exception):
            work()

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(SHUTDOWN_SECONDS)


def _shortened(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:300] or type(error).__name__
