"""How a bot is launched and confined, as JSON types: ``sandbox_policy`` decides, and the fork server carries it out."""

from __future__ import annotations

from typing import TypedDict

TAG_VARIABLE = "ARENA_BOT"
"""The environment variable with the process tag of the arena that launched the bot; every bot has it."""

SHARED_MEMORY = "/dev/shm"
"""The directory of POSIX shared memory and semaphores, which Python's ``multiprocessing`` uses."""

ROOM_VARIABLE, ROOM_BYTES = "_", 8192
"""An environment variable of the warm fork server, as long as the longest environment of a bot, which replaces it."""


class GroupSpec(TypedDict):
    """A control group to create: its directory, values to write by file name, and those for files some kernels lack.

    A process with one thread joins it by writing into ``join_file``; if that is empty, it has to be started in it.
    """

    directory: str
    join_file: str
    settings: dict[str, str]
    optional_settings: dict[str, str]


class LandlockRules(TypedDict):
    """The rights refused unless granted (to files, TCP ports, scopes), and paths with the rights granted for each.

    ``rules`` are for paths that are there for one launch, ``lasting`` for the others; ``stamp`` is another number where
    one of these leads to another file than before. ``own`` are those of all paths whose owner is not the system's and
    might replace them by links.
    """

    handled: list[int]
    rules: list[tuple[str, int]]
    own: list[str]
    lasting: list[tuple[str, int]]
    stamp: int


class MountSpec(TypedDict):
    """A bot's own view of the file system, as JSON types.

    Attributes:
        user_namespace: whether to enter a user namespace first, to mount without being root.
        read_only: whether all existing mounts become read-only.
        replace: directories to replace by empty ones, each with the paths to bind into it.
        named: the real paths that may be bound.
        private: directories that become file systems in memory, each with its size in bytes.
    """

    user_namespace: bool
    own_ipc: bool
    read_only: bool
    replace: dict[str, list[str]]
    named: list[str]
    private: dict[str, int]


class LaunchOutline(TypedDict):
    """What is prepared for a bot, and removed with it, as JSON types.

    Attributes:
        covers_scratch: whether the bot sees a file system of its own in place of the scratch directory.
        is_contained: whether no process of the bot can leave its process group or control groups.
        leaves_no_ipc: whether System V objects of the bot end with it.
        needs_note: whether nothing but a note of its session shows whose its processes are, once their environment is
            changed.
    """

    scratch: str
    covers_scratch: bool
    other_uid: bool
    control_groups: list[GroupSpec]
    is_contained: bool
    leaves_no_ipc: bool
    needs_note: bool


class LaunchSpec(LaunchOutline):
    """How a bot is launched and confined, as JSON types.

    Attributes:
        mounts: the bot's view of the file system; None to leave it unchanged.
        rlimits: the number, the soft and the hard limit of each resource.
        seccomp: the seccomp filter in hexadecimal, if any.
        seccomp_at: the descriptor in which a wrapping program expects the filter; None without such a program.
        is_warm: whether the command is a file for a Python that runs already (``arena.sandbox.isolation.warm_server``).
        number: one of its own for what is launched again and again in just the same way; 0 for anything else.
    """

    command: list[str]
    environment: dict[str, str]
    directory: str
    mounts: MountSpec | None
    rlimits: list[tuple[int, int, int]]
    no_new_privs: bool
    landlock: LandlockRules | None
    seccomp: str | None
    seccomp_at: int | None
    is_warm: bool
    number: int


def outline_of(spec: LaunchSpec) -> LaunchOutline:
    """Return what a fork server has to know of a bot whose process reads the rest by itself."""
    return {
        "scratch": spec["scratch"],
        "covers_scratch": spec["covers_scratch"],
        "other_uid": spec["other_uid"],
        "control_groups": spec["control_groups"],
        "is_contained": spec["is_contained"],
        "leaves_no_ipc": spec["leaves_no_ipc"],
        "needs_note": spec["needs_note"],
    }
