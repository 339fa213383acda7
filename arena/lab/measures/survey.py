"""Plays and solves what the eleven measures need, from one seed, and within a time if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from arena.base.errors import KernelError, OptionError, UsageError
from arena.base.seeds import derived_seed
from arena.games import GAMES, make_game
from arena.games.game import Game
from arena.games.kernels.kernel import ACTIONS, Kernel
from arena.games.kernels.loading import kernel_of
from arena.lab.measures.exact_values import (
    MAX_PLIES,
    BestPlay,
    ExactValues,
    NoValuesError,
    Value,
    exact_values,
    opening_balance,
    random_play,
)
from arena.lab.measures.formulas import SelfPlay, ValuedMatch, valued
from arena.lab.measures.measure import Row
from arena.lab.measures.simulation import SimulatedMatch, decides_among_others
from arena.lab.measures.skill_ladder import (
    Step,
    Strength,
    best_play_strengths,
    encounter,
    neighbours,
    self_play,
    simple_strategies,
    strengths_of,
)
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError, bytes_per_state
from arena.lab.solving.positions import representatives, up_to_symmetry
from arena.lab.solving.worth import By, Known, Solution

# What smaller boards of a game are worth, and the one that was asked for.

MAX_BOARDS = 12
"""The most boards whose values are computed: the smallest ones, and the one that was asked for."""

PLAID_SIDES = (4, 6, 8, 10, 12, 14)
"""The sides of smaller square sheets whose values are computed, too."""

MOST_STATES = 100_000
"""The most states of a board to solve by a table by the rules in Python, which takes some seconds."""


def solved_boards(game: Game[Any], path: str, limits: Limits) -> Iterator[tuple[str, Solution | None]]:
    """Yield each board with its solution: after the first that is too large, only by proofs."""
    is_easy = True
    for board, rules in boards_of(game, path):
        solution = _proved(rules, path, limits)
        if is_easy and not is_exact(solution):
            solution = _computed(rules, path, limits) or solution
        is_easy = is_easy and is_exact(solution)
        yield board, solution


def _computed(game: Game[Any], path: str, limits: Limits) -> Solution | None:
    """Return the worth of a board by kernel or table: how far a search comes depends on the machine."""
    unhurried = replace(limits, deadline=float("inf"))  # a solver in a hurry does not build the kernel it needs
    plan = Solver(game, path, unhurried).plan()
    if plan.by is By.TABLE:
        most_bytes = MOST_STATES * bytes_per_state(game)
        limits = replace(limits, memory_bytes=min(limits.memory_bytes, most_bytes))
    try:
        return Solver(game, path, limits).solve(plan.by)
    except (TimeIsUpError, TooLargeError, KernelError):
        return None


def _proved(game: Game[Any], path: str, limits: Limits) -> Solution | None:
    try:
        return Solver(game, path, limits).solve(By.PROOF)
    except UsageError:
        return None


def is_exact(solution: Solution | None) -> bool:
    """Return whether nothing is left to compute; of a game for more than two there are shares in place of a worth."""
    return solution is not None and (solution.worth is None or solution.worth.is_exact)


def boards_of(game: Game[Any], path: str) -> list[tuple[str, Game[Any]]]:
    """Return smaller boards of a game and the board itself, each with its name; of a game from outside only itself."""
    options = game.options
    if path in GAMES and "size" in options:
        sets = [{"size": size} for size in range(2, options["size"] + 1)]
    elif path in GAMES and "width" in options:
        sides = [side for side in PLAID_SIDES if side < min(options["width"], options["height"])]
        sets = [{"width": side, "height": side} for side in sides]
        sets.append({"width": options["width"], "height": options["height"]})
    else:
        return [(_option_text(options), game)]
    boards = []
    for changed in sets:
        try:
            boards.append((_option_text(changed), make_game(path, **{**options, **changed})))
        except OptionError:
            continue  # a size that the rules do not have
    return boards if len(boards) <= MAX_BOARDS else [*boards[: MAX_BOARDS - 1], boards[-1]]


def _option_text(options: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in options.items()) or "the board"


MOST_MEMORY_BYTES = 1 << 30
"""The memory for values, whatever is free, so that reports do not depend on the machine."""

SHARES = {"value": 0.15, "values": 0.3, "random": 0.35, "played": 0.55, "steps": 0.75, "simple": 0.85}
SHARES |= {"openings": 0.95, "valued": 1.0}
"""When each part of a survey ends, as a share of the whole time; what a part leaves is for the next."""


PLAYOUTS = 10_000
"""The random playouts of a kernel for each observation on the rules: two million by default."""

MOST_PLIES = 64_000_000
"""Where matches are long, the actions of all playouts: some seconds."""

MOST_JUDGED = 50_000
"""The playouts whose ranks the rules in Python judge, as in near ties of plaid: some seconds."""

_FIRST_PLAYOUTS, _PLIES_A_CALL = 1000, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much to measure.

    ``encounters`` counts the observations behind each sampled number, if there is time; ``doublings`` those of the
    search's playouts. Without a time limit, results don't depend on the machine.
    """

    encounters: int = 200
    doublings: int = 3
    rng_seed: int = 0
    within_seconds: float = float("inf")


@dataclass(slots=True, kw_only=True)
class Findings:
    """What was played and solved: lists of observations by strength, pair or board.

    ``known`` has the strengths of which more is known than by matches on the rules; ``steps`` and ``simple`` have the
    points of the stronger, and of the strategy, in each encounter; ``first_values`` are to the seat that acts,
    ``first_actions`` up to symmetry, ``equal_first_actions`` all that a strength takes equally often; ``kingmaking``
    tells of each match whether its last choice decided only among others.
    """

    game: Game[Any]
    strongest_search: str
    solutions: dict[str, Solution] = field(default_factory=dict)
    no_values_reason: str = ""
    played: dict[str, list[SimulatedMatch]] = field(default_factory=dict)
    known: dict[str, SelfPlay] = field(default_factory=dict)
    steps: dict[str, list[float]] = field(default_factory=dict)
    doublings: list[str] = field(default_factory=list)
    simple: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    openings: list[Row] = field(default_factory=list)
    valued: list[ValuedMatch] = field(default_factory=list)
    first_values: list[Value] = field(default_factory=list)
    first_actions: dict[str, list[Any]] = field(default_factory=dict)
    equal_first_actions: dict[str, list[Any]] = field(default_factory=dict)
    kingmaking: dict[str, list[bool]] = field(default_factory=dict)
    are_all_solved: bool = True
    ended_early: list[str] = field(default_factory=list)


class Survey:
    """Measures one game with its options."""

    def __init__(self, game: Game[Any], path: str, plan: Plan, limits: Limits) -> None:
        self._game = game
        self._path = path
        self._plan = plan
        self._begun = limits.clock()
        self._limits = limits
        self._values: ExactValues | None = None
        self._strengths = strengths_of(game, plan.doublings, self._check_time)
        self._findings = Findings(game=game, strongest_search=self._strengths[-1].name)

    def findings(self, report: Callable[[str], None] = lambda _: None) -> Findings:
        """Measure everything; ``report`` receives what comes next. GameError if the rules contradict themselves."""
        parts = (
            ("value", "what boards are worth", self._solve_boards),
            ("values", "exact values of all states", self._find_values),
            ("random", "random play", self._play_at_random),
            ("played", "matches of each strength against itself", self._play_strengths),
            ("steps", "each strength against the one below", self._play_steps),
            ("simple", "strategies of one sentence", self._play_simple),
            ("openings", "openings", self._value_openings),
            ("valued", "exact values of what was played", self._value_matches),
        )
        for part, text, run in parts:
            report(text)
            with self._until(part):
                try:
                    run()
                except NoValuesError as error:
                    self._values, self._findings.no_values_reason = None, str(error)
                    run()
        self._note_first_actions()
        self._note_last_choices()
        return self._findings

    @contextmanager
    def _until(self, part: str) -> Iterator[None]:
        """Let a part run until its time is up, and note that."""
        deadline = self._begun + SHARES[part] * self._plan.within_seconds
        self._limits = replace(self._limits, deadline=deadline)
        try:
            yield
        except TimeIsUpError:
            self._findings.ended_early.append(part)

    def _check_time(self) -> None:
        self._limits.check_time()

    def _seed(self, number: int) -> tuple[object, ...]:
        """Return a seed that differs with the options, so that differences between variations are independent."""
        return self._plan.rng_seed, repr(self._game.options), number

    def _solve_boards(self) -> None:
        are_exact = []
        for board, solution in solved_boards(self._game, self._path, self._limits):
            are_exact.append(is_exact(solution))
            if solution is not None:
                self._findings.solutions[board] = solution
        self._findings.are_all_solved = all(are_exact)

    def _find_values(self) -> None:
        if not self._findings.no_values_reason:
            self._values = exact_values(self._game, self._path, self._limits)

    def _play_at_random(self) -> None:
        game, known = self._game, self._findings.known
        exact = random_play(game, self._check_time)
        kernel = kernel_of(game)
        if exact is not None:
            known["random"] = SelfPlay(exact, Known.TABLE)
        elif isinstance(kernel, Kernel):
            seed = derived_seed("random play", *self._seed(0))
            profile = kernel.profile(seed, 0, _FIRST_PLAYOUTS)
            known["random"] = SelfPlay(profile, "kernel")
            plies, judged = profile.sums[ACTIONS] / profile.n, max(profile.added, 1) / profile.n
            count = int(min(PLAYOUTS * self._plan.encounters, MOST_PLIES / plies, MOST_JUDGED / judged))
            a_call = max(1, int(_PLIES_A_CALL / plies))
            while profile.n < count:
                self._check_time()
                profile.include(kernel.profile(seed, profile.n, min(a_call, count - profile.n)))

    def _play_strengths(self) -> None:
        if self._values is not None:
            start = self._game.initial_state()
            self._findings.known["best play"] = SelfPlay(self._values.best_play(start), self._values.known(start))
        strengths = [*self._strengths, *self._best_play()[-1:]]
        self._findings.played = {strength.name: [] for strength in strengths}
        for number in range(self._plan.encounters):
            for strength in strengths:
                match = self_play(self._game, strength, self._seed(number), self._check_time)
                self._findings.played[strength.name].append(match)

    def _best_play(self) -> list[Strength]:
        if self._values is None:
            return []
        lengths = {len(match.actions) for match in self._findings.played.get("random", ())}
        return best_play_strengths(self._game, self._values, len(lengths) == 1)

    def _play_steps(self) -> None:
        steps = neighbours(self._strengths)
        best_play = self._best_play()
        if best_play:
            steps += [Step(best_play[-1], self._strengths[-1]), *neighbours([self._strengths[0], *best_play[:-1]])]
        self._findings.doublings = [step.name for step in steps if step.is_doubling]
        self._findings.steps = {step.name: [] for step in steps}
        for number in range(self._plan.encounters):
            for step in steps:
                points = encounter(self._game, step, self._seed(number), self._check_time)
                self._findings.steps[step.name].append(points)

    def _play_simple(self) -> None:
        searches = [strength for strength in self._strengths if strength.playouts is not None]
        opponents = [searches[len(searches) // 2], *self._best_play()[-1:]]
        steps = {
            (opponent.name, name): Step(Strength(name=name, strategy=strategy), opponent)
            for opponent in opponents
            for name, strategy in simple_strategies(self._game).items()
        }
        for opponent, name in steps:
            self._findings.simple.setdefault(opponent, {})[name] = []
        for number in range(self._plan.encounters):
            for (opponent, name), step in steps.items():
                points = encounter(self._game, step, self._seed(number), self._check_time)
                self._findings.simple[opponent][name].append(points)

    def _value_openings(self) -> None:
        values = self._values
        if values is None:
            return
        start, game = self._game.initial_state(), self._game
        seat = game.seat_to_act(start)
        if seat is not None:
            actions = up_to_symmetry(game, self._path, game.legal_actions(start))
            self._findings.first_values = [values.of(game.apply(start, action)).to(seat) for action in actions]
        for plies in range(1, MAX_PLIES + 1):
            self._check_time()
            seeds = [derived_seed("opening", plies, *self._seed(number)) for number in range(self._plan.encounters)]
            self._findings.openings += opening_balance(game, values, plies, seeds, self._check_time)

    def _value_matches(self) -> None:
        values = self._values
        if values is None:
            return
        for match in self._findings.played[self._findings.strongest_search]:
            self._check_time()
            self._findings.valued.append(valued(match, values))

    def _note_first_actions(self) -> None:
        start, findings = self._game.initial_state(), self._findings
        actions = self._game.legal_actions(start)
        same = representatives(self._game, self._path, actions)
        if actions:
            equal = {"random": actions}
            if self._values is not None:
                equal["best play"] = BestPlay(self._game, self._values).best(start)
            findings.equal_first_actions = {name: [same[action] for action in taken] for name, taken in equal.items()}
        for strength, matches in findings.played.items():
            if strength not in findings.equal_first_actions:
                findings.first_actions[strength] = [same[match.actions[0]] for match in matches if match.actions]

    def _note_last_choices(self) -> None:
        if self._game.players == 2:
            return
        for strength, matches in self._findings.played.items():
            decisive = [decides_among_others(self._game, match) for match in matches]
            self._findings.kingmaking[strength] = [is_decisive for is_decisive in decisive if is_decisive is not None]
