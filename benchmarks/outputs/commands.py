"""What the commands print, and the files they write."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

from benchmarks.outputs.reduced import Normaliser, lines_of

CALLS = Path(__file__).with_name("calls.txt")
MAX_NAME = 200
WORKERS = 2


class Recorder:
    """Runs one version of the arena, and keeps what it says.

    Attributes:
        arena: the executable.
        directory: where commands are run, beside the home ``home``.
        out: where texts are kept.
    """

    def __init__(self, arena: Path, directory: Path, out: Path) -> None:
        self.arena, self.directory, self.out = arena, directory, out
        self.normaliser = Normaliser(arena.parents[2])

    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
        own = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        return kept | own | {"ARENA_CREDENTIALS": str(self.directory / "credentials.json")}

    def run(self, arguments: str, **extra: str) -> subprocess.CompletedProcess[bytes]:
        command = [str(self.arena), *shlex.split(arguments), *([] if "--home" in arguments else ["--home", "home"])]
        return subprocess.run(
            command, cwd=self.directory, env=self.environment() | extra, stdin=subprocess.DEVNULL, capture_output=True
        )

    def keep(self, section: str, name: str, lines: list[str], is_measured: bool = False) -> None:
        path = self.out / section / quote(name, safe=" @,=")[:MAX_NAME].replace("%2F", "\N{DIVISION SLASH}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.normaliser.lines(lines, is_measured)))

    def call(self, arguments: str, is_measured: bool = False) -> None:
        """Keep what a command prints, and the files in ``written`` that it writes."""
        done = self.run(arguments)
        lines = [f"exit code {done.returncode}", *lines_of(done.stdout), "stderr:", *lines_of(done.stderr)]
        self.keep("commands", f"arena {arguments}", lines, is_measured)
        if found := re.search(r"written/\w+", arguments):
            for path in sorted((self.directory / found[0]).rglob("*")):
                if path.is_file():
                    name = str(path.relative_to(self.directory))
                    is_manifest = "manifest" in name  # digests of all files change with every layout
                    self.keep("written", name, [] if is_manifest else lines_of(path.read_bytes(), name), is_measured)


def helps(recorder: Recorder, group: str = "") -> Iterator[tuple[str, str]]:
    """Yield every command with its help."""
    text = recorder.run(f"{group} --help").stdout.decode()
    yield group, text
    if "COMMAND" in text.partition("\n")[0]:
        for name in re.findall(r"^  ([a-z][a-z-]*) {2,}\S", text, re.MULTILINE):
            yield from helps(recorder, f"{group} {name}".strip())


def calls_of(section: str, **names: str) -> list[str]:
    """Return the calls of a section of ``calls.txt``, with names in place of capitals."""
    text = CALLS.read_text().partition(f"[{section}]\n")[2].partition("\n[")[0]
    return [re.sub(r"\b[A-Z]+\b", lambda found: names.get(found[0], found[0]), call) for call in text.splitlines()]


def variants(calls: list[str], known: dict[str, str]) -> list[str]:
    """Return the calls in each format that the help of the command names."""
    found = list(calls)
    for call in calls:
        words = call.split()
        text = known.get(" ".join(words[:2])) or known.get(" ".join(words[:1]), "")
        formats = re.search(r"--format \[([\w\s|]+)\]", text) if words[:1] == ["standings"] else None
        found += [f"{call} --format {one.strip()}" for one in (formats[1].split("|") if formats else [])[1:-1]]
        if words and "--json" in text and "written" not in call:
            found.append(f"{call} --json")
    return found


def each(work: Callable[[str], None], items: list[str]) -> None:
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, items))
