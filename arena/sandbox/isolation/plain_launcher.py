"""Launching bots at the level ``none`` without a fork server: on systems that are not Linux."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from arena.base.enums import FaultKind
from arena.base.errors import BotError, VoidMatchError
from arena.sandbox.isolation.launch_spec import LaunchSpec
from arena.sandbox.isolation.launcher_client import OUR_ERRNOS, LaunchedBot, LauncherClient
from arena.sandbox.isolation.removal import remove_tree


class PlainLauncher(LauncherClient):
    """Starts bots as any program does: in a session of their own, with a clean environment."""

    def __init__(self) -> None:
        self.launches_only_bots = False
        self.alive: dict[int, LaunchedBot] = {}
        self._servers = {}

    def launch(self, spec: LaunchSpec, descriptors: Sequence[int]) -> LaunchedBot:
        """Launch a bot, with a pipe that nobody writes to and that ends when it exits."""
        exit_read, exit_write = os.pipe()
        stdin, stdout, stderr = descriptors
        try:
            process = subprocess.Popen(
                spec["command"],
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=spec["directory"],
                env=spec["environment"],
                pass_fds=(exit_write,),
                start_new_session=True,
            )
        except OSError as error:
            os.close(exit_read)
            if error.errno in OUR_ERRNOS:
                raise VoidMatchError(f"no bot can be launched: {error.strerror}") from error
            raise BotError(FaultKind.START, f"{spec['command'][0]} can't be executed: {error.strerror}") from error
        finally:
            os.close(exit_write)
        process.returncode = 0  # whoever ends the bot waits for it, and learns what it used
        launched = LaunchedBot(pid=process.pid, user=None, spec=spec, exit_descriptor=exit_read)
        self.alive[launched.pid] = launched
        return launched

    def needs_members(self, launched: LaunchedBot) -> bool:
        """Return that nobody can tell which processes a bot has, beyond its group."""
        return False

    def forget(self, pid: int) -> None:
        """Remove the scratch directory of a bot."""
        launched = self.alive.pop(pid, None)
        if launched is not None:
            remove_tree(launched.spec["scratch"])

    def reap_orphans(self, known: set[int], session: int) -> None:
        """Do nothing: orphans are adopted by the first process of the system."""
