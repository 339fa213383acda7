"""What the web process and its builders say to each other, as JSON.

The first message has what a builder needs to know, and an empty frame says that it is ready. Then each request has an
answer; one without a problem is followed by a frame with the value of the page.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from arena.server.http.problems import Problem
from arena.site.frame.model import Model


class BuilderStart(Model):
    """What a builder needs to know.

    Attributes:
        directory: of the home.
        store: the URL of its database; None for a file in the home. It may have a password, so it is no argument.
        import_path: where modules are found, external games included.
        parent: the process that has started it.
        memory_bytes: the most it may use; None for no bound of its own.
    """

    directory: str
    store: str | None
    import_path: tuple[str, ...]
    parent: int
    memory_bytes: int | None = None


class BuildRequest(Model):
    """A page to build.

    Attributes:
        page: its name in the table of pages.
        parameters: what its address says.
    """

    page: str
    parameters: dict[str, Any]


class BuildAnswer(Model):
    """How it went.

    Attributes:
        problem: why there is no value; None if the next frame has it.
        seconds: how long it took.
        cpu_seconds: how long a processor worked for that.
        log: what the server's log should say about it, such as a traceback; empty for nothing.
    """

    problem: Problem | None = None
    seconds: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    cpu_seconds: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    log: str = ""
