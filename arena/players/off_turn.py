"""A bot's program that is not always to act: what it uses in the meantime, and how it is kept from working."""

from __future__ import annotations

import contextlib
import signal
from dataclasses import dataclass

from arena.isolation.launch_spec import Isolation
from arena.players.bystanders import FIRST_LOOK_SECONDS, Bystanders
from arena.players.subprocess import BotProgram
from arena.records import Bot, Limits

BUSY_SECONDS = 0.001
"""A bot that uses more CPU time than this between its turns is at work there; the runtime's own threads use less."""

STOPPED_SECONDS = 0.03
"""A bot that has been stopped and uses more CPU time than this has found a way to go on: no honest one comes near."""


@dataclass(slots=True)
class Rest:
    """How a bot stands while it is not to act; apart, for Python is slower with objects of more than thirty attributes.

    Attributes:
        is_due: it is to leave the processor to others while it is not asked.
        since: the CPU time it had used when it was last to rest; None if it never was.
        was_broken: it has been found at work while it was to rest.
        went_on: it has been found at work although its group had been stopped, so its processes are stopped one by one.
        cpu_when_stopped: the CPU time it had used when it was last stopped.
        fault: what it did although it had been stopped; None if it did nothing.
    """

    is_due: bool = True
    since: float | None = None
    was_broken: bool = False
    went_on: bool = False
    cpu_when_stopped: float = 0.0
    fault: str | None = None


class RestingProgram(BotProgram):
    """One running program among others.

    Attributes:
        rest: how it stands while it is not to act.
    """

    def __init__(self, bot: Bot, isolation: Isolation, limits: Limits, bystanders: Bystanders | None = None) -> None:
        """Launch the bot.

        Args:
            bot: what to launch; see ``BotProgram``.
            isolation: the level.
            limits: what it may use.
            bystanders: the bots that run beside it; it joins them.
        """
        self._bystanders = bystanders if bystanders is not None else Bystanders()
        self._bystanders.keep_still(None)
        super().__init__(bot, isolation, limits)
        self._bystanders.join(self)
        self.rest = Rest()

    def whole_cpu_seconds(self) -> float:
        """Return the CPU time of the bot and of all it started.

        Exact where a control group tells it quickly, else as far as its children were last looked at.
        """
        exact_clock = self._watch.exact_clock
        if exact_clock is not None:
            return exact_clock.seconds()
        return self.cpu_seconds() + self._watch.children_cpu_seconds

    def possible_cpu_seconds(self) -> float:
        """Return ``whole_cpu_seconds`` with what its processes may have used unseen."""
        return self.whole_cpu_seconds() + self._watch.doubtful_cpu_seconds

    def cpu_seconds_at_rest(self) -> float:
        """Return what it has used since it was to rest; 0 if it need not."""
        if not self.rest.is_due or self.rest.since is None:
            return 0.0
        return self.possible_cpu_seconds() - self.rest.since

    def update_cpu(self) -> None:
        """Bring what is known of its CPU time up to date."""
        if not self._is_reaped:
            with contextlib.suppress(OSError):
                self._watch.look_at_cpu()

    def count_children(self, wall_seconds: float, own_before: float) -> None:
        """Take note of what its children have used while it was to act, lest that be taken for work at rest.

        Needed only where no clock tells it, and where children may have worked: it was waited for longer than its own
        process was at work, or so long that looking costs next to nothing.

        Args:
            wall_seconds: how long it was waited for.
            own_before: what ``cpu_seconds`` had told before.
        """
        if self._watch.exact_clock is not None:
            return
        is_explained = wall_seconds - (self.cpu_seconds() - own_before) <= BUSY_SECONDS
        if wall_seconds >= FIRST_LOOK_SECONDS or not is_explained:
            self.update_cpu()

    def keep_still(self) -> None:
        """Stop it if it works although it is to rest; if that does not help, kill it."""
        if not self.rest.is_due or self.rest.since is None or self.rest.fault is not None:
            return
        self.update_cpu()
        if not self._is_frozen:
            if self.cpu_seconds_at_rest() > BUSY_SECONDS or self._watch.has_strangers:
                self.rest.was_broken = True
                self.freeze()
        elif self.possible_cpu_seconds() - self.rest.cpu_when_stopped > STOPPED_SECONDS:
            self._hold()

    def freeze(self) -> None:
        """Stop the bot's group, until it is asked again."""
        super().freeze()
        if self.rest.went_on:
            self._freeze_members()
        self.rest.cpu_when_stopped = self.possible_cpu_seconds()

    def _hold(self) -> None:
        """Stop what goes on although its group was stopped: at first one by one, then for good."""
        used = self.possible_cpu_seconds() - self.rest.cpu_when_stopped
        self.rest.cpu_when_stopped += used
        if not self._stopped:
            self.rest.went_on = True
            self._freeze_members()
            return
        self._note_members()
        self._signal_group(signal.SIGKILL)
        self._signal_stopped(signal.SIGKILL)
        self.rest.fault = f"{used:.2f} s of CPU time after it had been stopped, while another bot was to act"

    def end(self, last_words: bytes = b"", grace_seconds: float = 0.0) -> bool:
        """End the bot; see ``BotProgram.end``."""
        self._bystanders.leave(self)
        return super().end(last_words, grace_seconds)
