"""A person at the terminal: single keys, the board, the scores, and a prompt for an action or a command."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import click

from arena.analysis.text.tables import printable, printable_lines
from arena.base.errors import ArenaError, IllegalActionError
from arena.base.text import counted
from arena.cli.bots.boards import listed, note_text, position_lines, rulebook_text, score_lines
from arena.cli.terminal.streams import terminal_width
from arena.match.players.player import LeftMatchError, TakenBackError, kept_after_undo, read_action

HELP = """\
an action   {example}
legal       list the legal actions
hint        ask {adviser} what it would do
undo        take your last action back
scores      show the scores so far
board       draw the whole board, however wide
rules       print the rules
quit        leave the match
help, ?     this list, and the legal actions"""

SHOWN_ACTIONS = 8
"""Up to this many legal actions are listed in the prompt itself."""


class Table:
    """Shows a match to the people at this terminal: every action, and the board before one of them acts."""

    def __init__(
        self,
        game: Any,
        labels: Sequence[str],
        suggest: Callable[[list[Any]], Any] | None,
        adviser: str,
        is_quiet: bool,
    ) -> None:
        self._game = game
        self._names = labels
        self._labels = [f"{printable(label)} (seat {seat})" for seat, label in enumerate(labels)]
        self._suggest = suggest
        self._adviser = adviser
        self._state: Any = game.initial_state()
        self._actions: list[Any] = []
        self._shown = 0
        self._is_quiet = is_quiet

    def observe(self, game: Any, state: Any, actions: list[list[Any]]) -> None:
        """Print the new actions, and the board when the match is over."""
        for ply in range(self._shown, len(actions)):
            seat, action = actions[ply]
            played = "is taken out" if action is None else f"plays {printable(game.format_action(action))}"
            scores = " : ".join(f"{score:g}" for score in game.scores(state)) if ply == len(actions) - 1 else ""
            self._show_unless_quiet(f"{ply + 1}. {self._labels[seat]} {played}{f', {scores}' if scores else ''}")
        self._shown = len(actions)
        self._state, self._actions = state, [list(pair) for pair in actions]
        if game.is_over(state):
            self._draw()

    def rewind(self, plies: int) -> list[Any]:
        self._shown = plies
        self._show_unless_quiet(f"Back to the position after {counted(plies, 'action')}.")
        return [action for _, action in self._actions[:plies]]

    def ask(self, seat: int, request: Any) -> Any:
        self._draw()
        legal = list(request.legal)
        texts = [printable(self._game.format_action(action)) for action in legal]
        few = f": {', '.join(texts)}" if len(texts) <= SHOWN_ACTIONS else ""
        while True:
            click.echo(f"{self._labels[seat]} acts{few} (? for help): ", nl=False, err=True)
            line = sys.stdin.readline()
            if not line:
                click.echo(err=True)
                plies = len(self._actions)
                raise LeftMatchError(
                    f"the input ended after {counted(plies, 'action')}, before the match was over; it has no result"
                )
            word = line.strip()
            command = {"?": "help"}.get(word, word.lower())
            if command in ("help", "legal", "hint", "undo", "scores", "board", "rules", "quit"):
                self._obey(command, seat, legal)
            elif word:
                action = self._read(word, legal)
                if action is not None:
                    return action

    def _read(self, text: str, legal: list[Any]) -> Any:
        try:
            return read_action(self._game, self._state, legal, text)
        except IllegalActionError as error:
            click.echo(printable(f"{text}: {error.reason}"), err=True)
        return None

    def _obey(self, command: str, seat: int, legal: list[Any]) -> None:
        if command == "quit":
            raise LeftMatchError("")
        if command == "undo":
            plies = kept_after_undo(self._actions, seat)
            if plies is not None:
                raise TakenBackError(plies)
            click.echo("You have no action to take back.", err=True)
        elif command == "hint":
            click.echo(self._hint(), err=True)
        elif command == "help":
            example = printable(self._game.format_action(legal[0]))
            click.echo(HELP.format(example=f"such as {example}", adviser=self._adviser or "a bot"), err=True)
            click.echo(listed(self._game, legal, terminal_width()), err=True)
        elif command == "legal":
            click.echo(listed(self._game, legal, terminal_width()), err=True)
        elif command == "scores":
            click.echo("\n".join(score_lines(self._game, self._state, self._names, terminal_width())), err=True)
        elif command == "rules":
            click.echo(printable_lines(rulebook_text(self._game)), err=True)
        else:
            click.echo(printable_lines(self._game.render_after(self._state, self._actions)), err=True)

    def _hint(self) -> str:
        if self._suggest is None:
            return "There is no bot to ask; name one with --hints BOT."
        try:
            answer = self._suggest(self._actions)
        except ArenaError as error:
            return printable(f"{self._adviser} has no hint: {error}")
        note = f" ({note_text(answer.note)})" if answer.note is not None else ""
        return f"{printable(self._adviser)} would play {printable(self._game.format_action(answer.action))}{note}"

    def _draw(self) -> None:
        self._show_unless_quiet(
            "\n".join(["", *position_lines(self._game, self._state, self._actions, self._names), ""])
        )

    def _show_unless_quiet(self, text: str) -> None:
        if not self._is_quiet:
            click.echo(text)


_NAMES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\x1b": "escape",
    "\r": "enter",
    "\n": "enter",
    " ": "space",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x04": "escape",
}


class Keys:
    """Reads keys one by one as long as it is entered, and puts the terminal back afterwards."""

    def __enter__(self) -> Keys:
        self._descriptor = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._descriptor)
        tty.setcbreak(self._descriptor, termios.TCSANOW)  # keeps what was typed ahead
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def read(self, seconds: float | None = None) -> str | None:
        """Return the next key: a letter, or a name such as "left"; "escape" at the end of input."""
        if not select.select([self._descriptor], [], [], seconds)[0]:
            return None
        text = os.read(self._descriptor, 1)
        if text == b"\x1b":
            while select.select([self._descriptor], [], [], 0.02)[0] and len(text) < 4:
                text += os.read(self._descriptor, 1)
                if text[-1:].isalpha() or text[-1:] == b"~":
                    break
        key = text.decode(errors="replace")
        return _NAMES.get(key, key) if key else "escape"
