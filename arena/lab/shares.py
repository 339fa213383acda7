"""What each seat gets in a game for three and more, by its kernel or by a table of all states.

The shares of a state are those of rivals beaten, a tie counting half, when every seat plays for its own (max^n with
``TIE_RULE``); the paranoid ones are what each seat can hold when all others play together against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.base.errors import KernelError, UsageError, expect
from arena.base.text import any_of
from arena.games.game import Game
from arena.games.kernels.loading import has_kernel, is_built, share_solver_of
from arena.games.kernels.solver import Needs, ShareSolver
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError, bytes_per_state, count_states, states_text
from arena.lab.solving.state_graph import explore, paranoid_of, shares_of
from arena.lab.solving.worth import By, Known, Shares

MAX_LINE = 1000
"""The most actions of the best line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionShares:
    """An action, and what each seat gets after it."""

    action: Any
    shares: Shares
    paranoid: Shares


@dataclass(frozen=True, slots=True, kw_only=True)
class StateShares:
    """What each seat gets from a state on.

    Attributes:
        actions: the legal ones, in their order; none where the match is over.
        known: by a table, or by a search to the ends of all matches that matter.
        states: how many were visited.
        edges: how many actions were visited.
        memory_bytes: about how much memory it took.
    """

    shares: Shares
    paranoid: Shares
    actions: tuple[ActionShares, ...]
    known: Known
    states: int
    edges: int
    memory_bytes: int

    def best(self, seat: int) -> tuple[Any, ...]:
        """Return the actions that leave a seat its share, of which it takes the first one."""
        seats = range(len(self.shares))
        expect(seat in seats, "seat", seat, any_of(seats))
        return tuple(choice.action for choice in self.actions if choice.shares[seat] == self.shares[seat])


class ShareOracle:
    """Answers what each seat gets from a state of a game for three and more.

    ``kernel_problem`` tells why there is no kernel where one would have been used.
    """

    def __init__(self, game: Game[Any], path: str, limits: Limits | None = None, builds_kernel: bool = True) -> None:
        """Answer questions about a game; rules from outside come from ``checked_game``.

        Unless ``builds_kernel``, or with a deadline, a kernel is used only if it is there.
        """
        self.kernel_problem = ""
        self._game = game
        self._path = path
        self._limits = limits or Limits()
        self._builds_kernel = builds_kernel

    def of(self, state: Any, by: By | None = None, deadline: float = float("inf")) -> StateShares:
        """Return what each seat gets from a state on, by the kernel if it knows it, else by a table.

        Args:
            state: any state.
            by: the way, in place of the default.
            deadline: of this question, by the clock of the limits.

        Raises:
            GameError: if the rules contradict themselves.
            TimeIsUpError: at the deadline.
            TooLargeError: if there is not enough memory.
            UsageError: if the kernel was asked for, and does not know it.
        """
        if by not in (None, By.TABLE, By.KERNEL):
            ways = "by a kernel or a table"
            raise UsageError(f"players = {self._game.players}: games for more than two are solved {ways}, not by {by}")
        limits = replace(self._limits, deadline=min(deadline, self._limits.deadline))
        kernel = None if by is By.TABLE else self._kernel_in(state, limits, is_asked_for=by is By.KERNEL)
        needs = kernel.share_needs() if kernel is not None else None
        if by is By.KERNEL and needs is None:
            raise UsageError(f"{self._path} with {self._game.options!r:.200}: kernels do not solve it; try --by table")
        try:
            if kernel is not None and needs is not None:
                return self._by_kernel(kernel, needs, state, limits)
            return self._by_table(state, limits)
        except TimeIsUpError as error:
            raise TimeIsUpError(f"{error}; allow more, or a smaller board") from error
        except TooLargeError as error:
            raise TooLargeError(f"{error}; try a smaller board") from error

    def best_line(self, state: Any, deadline: float = float("inf")) -> tuple[Any, ...]:
        """Return how a match continues when every seat plays for its own, to its end or to the deadline."""
        line: list[Any] = []
        while (seat := self._game.seat_to_act(state)) is not None and len(line) < MAX_LINE:
            try:
                line.append(self.of(state, deadline=deadline).best(seat)[0])
            except (TimeIsUpError, TooLargeError):
                break
            state = self._game.apply(state, line[-1])
        return tuple(line)

    def needs(self, by: By | None = None) -> Needs | None:
        """Return what the kernel takes for the first state; None if it is not asked, or does not know it."""
        try:
            start = self._game.initial_state()
            kernel = None if by is By.TABLE else self._kernel_in(start, self._limits, is_asked_for=by is By.KERNEL)
            return kernel.share_needs() if kernel is not None else None
        except KernelError:
            return None

    def _kernel_in(self, state: Any, limits: Limits, *, is_asked_for: bool) -> ShareSolver | None:
        if not is_asked_for and not self._is_worth_asking(limits):
            return None
        try:
            kernel = share_solver_of(self._game)
        except KernelError as error:
            if is_asked_for:
                raise
            self.kernel_problem = str(error)
            return None
        kernel.set_state(state)
        return kernel

    def _is_worth_asking(self, limits: Limits) -> bool:
        may_build = self._builds_kernel and limits.deadline == float("inf")
        return has_kernel(self._game) and (may_build or is_built(self._game))

    def _by_kernel(self, kernel: ShareSolver, needs: Needs, state: Any, limits: Limits) -> StateShares:
        limits.check_memory(needs.memory_bytes, f"solving {self._path} of {states_text(needs.states)} by its kernel")
        found = kernel.after_actions(limits.deadline, limits.watch)
        if found is None:
            raise TimeIsUpError("the time is up")
        shared, held = ([self._shares(points) for points in rows] for rows in (found.shared, found.held))
        seat = self._game.seat_to_act(state)
        assert seat is not None  # nobody asks kernels about other states
        paranoid = ((max if other == seat else min)(after[other] for after in held) for other in range(len(held[0])))
        return StateShares(
            shares=max(shared, key=lambda after: after[seat]),
            paranoid=tuple(paranoid),
            actions=self._actions(state, shared, held),
            known=Known.TABLE if needs.states else Known.SEARCH,
            states=found.states,
            edges=found.edges,
            memory_bytes=needs.memory_bytes,
        )

    def _shares(self, points: Sequence[int]) -> Shares:
        return tuple(seat_points / (2 * (len(points) - 1)) for seat_points in points)

    def _by_table(self, state: Any, limits: Limits) -> StateShares:
        game, players = self._game, self._game.players
        is_first = state == game.initial_state()
        state_bytes = bytes_per_state(game)
        states = count_states(game, self._path) if is_first else None
        if states is not None:
            limits.check_memory(states * state_bytes, f"a table of {self._path} of {states_text(states)}")
        graph = explore(game, self._path, limits, None if is_first else state)
        shares, after = shares_of(graph, players), graph.following(0)
        paranoid = paranoid_of(graph, players, [0, *after])
        return StateShares(
            shares=shares[0],
            paranoid=paranoid[0],
            actions=self._actions(state, [shares[number] for number in after], paranoid[1:]),
            known=Known.TABLE,
            states=len(graph),
            edges=graph.edges,
            memory_bytes=len(graph) * state_bytes,
        )

    def _actions(self, state: Any, shared: Sequence[Shares], held: Sequence[Shares]) -> tuple[ActionShares, ...]:
        actions = self._game.legal_actions(state) if shared else ()
        return tuple(
            ActionShares(action=action, shares=shares, paranoid=paranoid)
            for action, shares, paranoid in zip(actions, shared, held, strict=True)
        )
