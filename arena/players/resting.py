"""A bot's program that is not always to act: what it uses in the meantime, and how it is kept from working."""

from __future__ import annotations

import contextlib
import signal

from arena.isolation.plans import Isolation
from arena.players.bystanders import Bystanders
from arena.players.program import BotProgram
from arena.records import Bot, Limits

BUSY_SECONDS = 0.001
"""A bot that uses more CPU time than this between its turns is at work there; the runtime's own threads use less."""

STOPPED_SECONDS = 0.03
"""A bot that has been stopped and uses more CPU time than this has found a way to go on: no honest one comes near."""


class RestingProgram(BotProgram):
    """One running program among others.

    Attributes:
        is_to_rest: it is to leave the processor to others while it is not asked.
        resting_since: the CPU time it had used when it was last to rest; None if it never was.
        was_stopped: it has been found at work while it was to rest.
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
        self.is_to_rest = True
        self.was_stopped = False
        self.resting_since: float | None = None
        self._cpu_when_stopped = 0.0
        self._broken_at_rest: str | None = None

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
        if not self.is_to_rest or self.resting_since is None:
            return 0.0
        return self.possible_cpu_seconds() - self.resting_since

    def update_cpu(self) -> None:
        """Bring what is known of its CPU time up to date."""
        if not self._is_reaped:
            with contextlib.suppress(OSError):
                self._watch.look_at_cpu()

    def keep_still(self) -> None:
        """Stop it if it works although it is to rest; if that does not help, kill it."""
        if not self.is_to_rest or self.resting_since is None or self._broken_at_rest is not None:
            return
        self.update_cpu()
        if not self._is_frozen:
            if self.cpu_seconds_at_rest() > BUSY_SECONDS or self._watch.has_strangers:
                self.was_stopped = True
                self.freeze()
        elif self.possible_cpu_seconds() - self._cpu_when_stopped > STOPPED_SECONDS:
            self._hold()

    def freeze(self) -> None:
        """Stop the bot's group, until it is asked again."""
        super().freeze()
        self._cpu_when_stopped = self.possible_cpu_seconds()

    def _hold(self) -> None:
        """Stop what goes on although its group was stopped: at first one by one, then for good."""
        used = self.possible_cpu_seconds() - self._cpu_when_stopped
        self._cpu_when_stopped += used
        if not self._stopped:
            self._freeze_members()
            return
        self._note_members()
        self._signal_group(signal.SIGKILL)
        self._signal_stopped(signal.SIGKILL)
        self._broken_at_rest = f"{used:.2f} s of CPU time after it had been stopped, while another bot was to act"

    def end(self, last_words: bytes = b"", grace_seconds: float = 0.0) -> bool:
        """End the bot; see ``BotProgram.end``."""
        self._bystanders.leave(self)
        return super().end(last_words, grace_seconds)
