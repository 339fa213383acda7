"""Solves a game: by a proof where there is one, by a table where it fits, else by search until the deadline."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from arena.base.errors import KernelError, UsageError
from arena.games.game import Game
from arena.games.kernels.loading import has_solver, is_built, kernel_status, solver_of
from arena.games.pie import Pie
from arena.lab.oracle import Oracle
from arena.lab.shares import ShareOracle
from arena.lab.solving.limits import (
    FEW_STATES,
    Limits,
    Plan,
    TimeIsUpError,
    TooLargeError,
    bytes_per_state,
    count_states,
    plan_of,
    states_text,
)
from arena.lab.solving.positions import up_to_symmetry
from arena.lab.solving.proofs import Proof, proof_of
from arena.lab.solving.search import actions_and_states, search_solution
from arena.lab.solving.state_graph import Retrograde, StateGraph, explore
from arena.lab.solving.tables import Table, save_table, table_path, values_of
from arena.lab.solving.worth import By, Known, Solution, outcome_text, worth_between

_SHARE_OF_TABLE = 0.5
"""The share of the time for a table whose size is not known beforehand; the rest is for a search."""

_SHARE_OF_KERNEL = 0.8
"""The share of the time for a kernel: if it has not ended by then it has no bounds, and the rest is for a search."""


class Solver:
    """Solves one game with its options.

    ``table`` has the values of all states once known; ``kernel_problem`` tells why there is no kernel where one would
    help.
    """

    def __init__(self, game: Game[Any], path: str, limits: Limits, table: Table | None = None) -> None:
        """Solve a game for two or more; UsageError for one. Rules from outside come from ``checked_game``."""
        if game.players < 2:
            raise UsageError(f"players = {game.players}: expected a game for two or more")
        self.table = table
        self.kernel_problem = ""
        self._game = game
        self._path = path
        self._limits = limits
        self._start = game.initial_state()
        self._proof = Proof() if game.players > 2 or game.is_over(self._start) else proof_of(game, path, self._start)
        self._bare = Solution(game=path, options=game.options, proofs=self._proof.names)

    @property
    def is_proved(self) -> bool:
        """Whether strategies prove the value, so that nothing is left to compute."""
        return self._proof.low == self._proof.high

    def solve(self, by: By | None = None) -> Solution:
        """Solve the first state by proof, else by the kernel, a table if it fits, or a search.

        At Ctrl-C, return what is proved, or what a search has found.

        Raises:
            KeyboardInterrupt: if nothing is known then.
            GameError: if the rules contradict themselves.
            TimeIsUpError: if there is no time for the way that was asked for, or for a game of more than two.
            TooLargeError: if the table does not fit, and there is no deadline for a search.
            UsageError: if there is no proof, where one was asked for.
        """
        begun = time.monotonic()
        try:
            solution = self._solved(by)
        except KeyboardInterrupt:
            if not self._proof.names:
                raise
            worth = worth_between(self._proof.low, self._proof.high, Known.PROVED)
            solution = replace(self._bare, worth=worth, is_interrupted=True)
        return replace(solution, seconds=time.monotonic() - begun)

    def save(self) -> None:
        """Keep the table that the solver has made by the rules, if any, in its file; errors as in ``save_table``."""
        if isinstance(self.table, Retrograde):
            save_table(self._game, self._path, self.table.items(), table_path(self._game, self._path))

    def _solved(self, by: By | None) -> Solution:
        if self._game.players > 2:
            return self._shared(by)
        if by is By.PROOF or (by is None and self.is_proved):
            return self._proved()
        if by is By.SEARCH:
            if self.is_proved:  # else nothing would be searched
                return search_solution(self._game, self._limits, Proof(), replace(self._bare, proofs=()))
            return self._by_search()
        if by is By.KERNEL:
            return self._by_kernel(self._limits)
        if by is By.TABLE:
            return self._by_table(True)
        first = self._with_pie(self._game) if isinstance(self._game, Pie) else self._perhaps_by_kernel()
        return first or self._by_table(False)

    def _with_pie(self, game: Pie) -> Solution | None:
        """Solve by what the states without the pie rule are worth; None with a table, or where they are few."""
        if self.table is not None or self._are_few_without_pie(game):
            return None
        plan = self.plan()
        if plan.memory_bytes is not None and self._limits.deadline == float("inf"):
            try:
                self._limits.check_memory(plan.memory_bytes, f"solving {self._path} without the pie rule")
            except TooLargeError as error:
                raise self._refusal(error, False) from error
        oracle = Oracle(game, self._path, self._limits)
        oracle.prepare(self._limits.deadline - time.monotonic())
        actions, worth = oracle.actions(self._start), oracle.worth(self._start)
        best = (choice.action for choice in actions if worth.is_exact and choice.worth.has_value_of(worth))
        return replace(
            self._bare,
            worth=worth,
            best=self._classes(tuple(best)),
            has_all_best=True,
            proofs=proof_of(game.rules, self._path, self._start.state).names if worth.known is Known.PROVED else (),
            states=plan.states or 0,
            memory_bytes=plan.memory_bytes or 0,
        )

    def _are_few_without_pie(self, game: Pie) -> bool:
        states = count_states(game.rules, self._path)
        return states is not None and states <= FEW_STATES

    def _proved(self) -> Solution:
        proof = self._proof
        if not proof.names:
            raise UsageError(
                f"{self._path} with {self._game.options!r:.200}: no strategy is known; try it without --by"
            )
        worth = worth_between(proof.low, proof.high, Known.PROVED)
        return replace(self._bare, worth=worth, best=self._classes(proof.actions) if worth.is_exact else ())

    def plan(self, by: By | None = None) -> Plan:
        """Return what solving would take; where it is by the kernel, that is built now."""
        if by is None and isinstance(self._game, Pie):
            if self._are_few_without_pie(self._game):
                return plan_of(self._game, self._path)
            inner = Solver(self._game.rules, self._path, self._limits)
            plan = inner.plan()
            self.kernel_problem = inner.kernel_problem
            return plan
        needs = None
        if self._game.players > 2:
            needs = ShareOracle(self._game, self._path, self._limits).needs(self._way_to_share(by))
        elif by is By.KERNEL or (by is None and self._asks_kernel()):
            try:
                needs = solver_of(self._game).needs()
            except KernelError as error:
                self.kernel_problem = str(error)
        elif by is None and self._would_help():
            self.kernel_problem = kernel_status(self._game.name).problem
        if needs is None:
            return plan_of(self._game, self._path)
        return Plan(states=needs.states or None, memory_bytes=needs.memory_bytes, by=By.KERNEL)

    def _would_help(self) -> bool:
        """Return whether a kernel would solve it sooner."""
        states = count_states(self._game, self._path)
        return self.table is None and has_solver(self._game) and (states is None or states > FEW_STATES)

    def _asks_kernel(self) -> bool:
        return self._would_help() and (self._limits.deadline == float("inf") or is_built(self._game))

    def _perhaps_by_kernel(self) -> Solution | None:
        limits = self._limits
        if not self._asks_kernel():
            return None
        now = limits.clock()
        if limits.deadline != float("inf"):
            limits = replace(limits, deadline=now + _SHARE_OF_KERNEL * (limits.deadline - now))
        try:
            return self._by_kernel(limits)
        except KernelError as error:
            self.kernel_problem = str(error)
        except TimeIsUpError:
            return self._by_search()
        except TooLargeError:
            if limits.deadline == float("inf"):
                raise
            return self._by_search()
        except UsageError:  # kernels do not solve it
            pass
        return None

    def _by_kernel(self, limits: Limits) -> Solution:
        kernel = solver_of(self._game)
        needs = kernel.needs()
        if needs is None:
            raise UsageError(f"{self._path} with {self._game.options!r:.200}: kernels do not solve it; try --by table")
        try:
            limits.check_memory(
                needs.memory_bytes, f"solving {self._path} of {states_text(needs.states)} by its kernel"
            )
        except TooLargeError as error:
            raise self._refusal(error, False) from error
        solved = kernel.solve(limits.deadline, limits.watch)
        if solved is None:
            raise TimeIsUpError("the time is up, and the kernel has not ended; allow more, or a smaller board")
        (value,) = values_of(self._game, [(solved.outcome, solved.margin)])
        return replace(
            self._bare,
            worth=worth_between(value, value, Known.TABLE if needs.states else Known.SEARCH),
            best=self._classes(solved.best),
            has_all_best=True,
            states=solved.states,
            edges=solved.edges,
            memory_bytes=needs.memory_bytes,
        )

    def _by_table(self, is_asked_for: bool) -> Solution:
        """Solve by a table; where none can be made and none was asked for, by a search."""
        if self.table is not None:
            return self._looked_up(self.table)
        try:
            graph = self._explored(is_asked_for)
        except (TimeIsUpError, TooLargeError) as error:
            if is_asked_for or self._limits.deadline == float("inf"):
                raise self._refusal(error, is_asked_for) from error
            return self._by_search()
        retrograde = Retrograde(graph)
        self.table = retrograde
        solution = self._looked_up(retrograde)
        return replace(
            solution, states=len(graph), edges=graph.edges, memory_bytes=len(graph) * bytes_per_state(self._game)
        )

    def _explored(self, is_asked_for: bool) -> StateGraph:
        limits = self._limits
        plan = plan_of(self._game, self._path)
        if plan.memory_bytes is not None:
            limits.check_memory(plan.memory_bytes, f"a table of {self._path} of {states_text(plan.states or 0)}")
        if not is_asked_for and limits.deadline != float("inf"):
            now = limits.clock()
            limits = replace(limits, deadline=now + _SHARE_OF_TABLE * (limits.deadline - now))
        return explore(self._game, self._path, limits)

    def _looked_up(self, table: Table) -> Solution:
        value = table.value(self._start)
        if value is None:
            raise UsageError(
                f"the table of {self._path} does not have the first state; solve the game again with --save"
            )
        worth = worth_between(value, value, Known.TABLE)
        best = (action for action, after in actions_and_states(self._game, self._start) if table.value(after) == value)
        return replace(self._bare, worth=worth, best=self._classes(tuple(best)), has_all_best=True)

    def _by_search(self) -> Solution:
        return search_solution(self._game, self._limits, self._proof, self._bare)

    def _shared(self, by: By | None) -> Solution:
        oracle = ShareOracle(self._game, self._path, self._limits)
        state_shares = oracle.of(self._start, self._way_to_share(by))
        self.kernel_problem = oracle.kernel_problem
        seat = self._game.seat_to_act(self._start)
        return replace(
            self._bare,
            shares=state_shares.shares,
            paranoid=state_shares.paranoid,
            shares_known=state_shares.known,
            best=self._classes(state_shares.best(seat)) if seat is not None else (),
            has_all_best=True,
            states=state_shares.states,
            edges=state_shares.edges,
            memory_bytes=state_shares.memory_bytes,
        )

    def _way_to_share(self, by: By | None) -> By | None:
        states = count_states(self._game, self._path)
        return By.TABLE if by is None and states is not None and states <= FEW_STATES else by

    def _refusal(self, error: TimeIsUpError | TooLargeError, is_asked_for: bool) -> Exception:
        """Return the error with what is proved all the same, and with what would help."""
        proof = self._proof
        bound = outcome_text(worth_between(proof.low, proof.high, Known.PROVED)) if proof.names else ""
        proved = f"it is proved that {bound}, but " if bound else ""
        if isinstance(error, TimeIsUpError):
            return TimeIsUpError(f"{proved}the time is up, and there is no table yet; allow more, or a smaller board")
        smaller = "try a smaller board" + ("" if is_asked_for else ", or --within 60s for bounds by search")
        if self.kernel_problem and not is_asked_for:
            return TooLargeError(f"{proved}{self.kernel_problem}, and without its kernel it is too large; {smaller}")
        return TooLargeError(f"{proved}{error}; {smaller}")

    def _classes(self, actions: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(up_to_symmetry(self._game, self._path, actions))
