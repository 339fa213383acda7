"""Makes a home as the installed version of the arena stores it, for later versions to take up.

Run once for each release, with the arena of that release, and keep what it makes for good::

    python make_home.py homes/VERSION

The home holds a round robin and a Swiss that are half played, a ladder that has come to the end its file sets, a
finished tournament with faults, and a submitted bot. The tests copy it, and play the rest.
"""

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

from arena import ArenaHome, load_definition, run_tournament

HERE = Path(__file__).parent
BROKEN_OFF = {"round_robin": 60, "swiss": 5, "ladder": None, "faults": None}
"""From how many recorded matches on each tournament is broken off; None where it is played to its end."""


class BreakOffError(Exception):
    """Raised to end a tournament in the middle."""


def play(home: ArenaHome, name: str, enough: int | None) -> None:
    """Play a tournament, to its end or not."""
    definition = load_definition(HERE / f"{name}.toml", home.bots)

    def listen(progress):
        if enough is not None and progress.played >= enough:
            raise BreakOffError

    with contextlib.suppress(BreakOffError):
        run_tournament(definition, home.store, workers=1, listener=listen)


def main(directory: Path) -> None:
    """Make the home in ``directory``, which must not exist yet."""
    directory.mkdir(parents=True)
    submit = [sys.executable, "-m", "arena", "submit", str(HERE / "bots" / "submitted"), "--home", str(directory)]
    subprocess.run(submit, check=True)
    with ArenaHome(directory) as home:
        for name, enough in BROKEN_OFF.items():
            play(home, name, enough)
        for stored in home.store.tournaments():
            print(f"{stored.name}: {stored.recorded} of {stored.scheduled} matches, finished: {stored.finished_at}")
    shutil.rmtree(directory / "locks")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
