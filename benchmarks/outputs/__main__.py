"""The commands of the comparison; the package says how they are used."""

import argparse
import fcntl
import json
import shutil
import sys
import time
from pathlib import Path
from shlex import quote

from benchmarks.outputs import __doc__ as description
from benchmarks.outputs.commands import Recorder, calls_of, each, helps, variants
from benchmarks.outputs.comparison import compare, printed
from benchmarks.outputs.homes import PASSWORD, PEOPLE, make_homes
from benchmarks.outputs.site import Site

CRAWLERS = ("ann", "dora")


def record(arena: Path, homes: Path, out: Path, chosen: list[str]) -> None:
    """Record one version, from copies of the homes that lie at the same path each time."""
    work = homes / "work"
    out.mkdir(parents=True)
    for home, contents in json.loads((homes / "homes.json").read_text()).items():
        if chosen and home not in chosen:
            continue
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(homes / home, work)
        begun = time.monotonic()
        recorder = Recorder(arena, work, out / home)
        known = dict(helps(recorder))
        if home == "formats":
            for name, text in known.items():
                recorder.keep("help", f"arena {name} --help", text.split("\n"))
        calls = calls_of("home")
        calls += [call for name in contents["tournaments"] for call in calls_of("tournament", T=quote(name))]
        calls += [call for name in contents["games"] for call in calls_of("game", G=name)]
        calls += [f"show {quote(name)}" for name in contents["bots"]] + [
            f"replay {quote(name)}" for name in contents["matches"]
        ]
        names = {"BOTS": str(homes / "bots"), "FILES": str(homes / "files"), "T": "played"}
        if home == "formats":
            calls += calls_of("mistakes", **names)
        calls = variants(calls, known)
        each(recorder.call, calls)
        count = _crawl(recorder, home)
        if home == "formats":
            played = variants(calls_of("played", **names), {})
            for call in played:
                recorder.call(call, is_measured=True)
            calls += played
        print(f"{home}: {len(calls)} calls, {count} addresses in {time.monotonic() - begun:.0f} s", flush=True)
    shutil.rmtree(work)


def _crawl(recorder: Recorder, home: str) -> int:
    options = ["--only", "web", "--open-to", "authors"] if home == "people" else []
    with Site(recorder, *options) as site:
        count = site.crawl("visitor")
        for name in CRAWLERS if home == "people" else ():
            count += site.crawl(PEOPLE[name], site.sign_in(name, PASSWORD))
    return count


def main() -> int:
    """Do what the command line says; return 1 for a comparison that has found differences."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    making = commands.add_parser("make-homes", help="make the homes, once")
    making.add_argument("homes", type=Path)
    recording = commands.add_parser("record", help="record one version")
    recording.add_argument("out", type=Path)
    recording.add_argument("--homes", type=Path, required=True)
    recording.add_argument("--only", action="append", default=[], help="only this home; repeatable")
    for one in (making, recording):
        one.add_argument("--arena", type=Path, required=True, help="the executable of the version, in its .venv/bin")
    comparing = commands.add_parser("compare", help="list the differences of two recordings")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--all", action="store_true", help="list every address, not the first ones")
    options = parser.parse_args()
    if options.command == "compare":
        for path in (options.old, options.new):
            if not path.is_dir():
                parser.error(f"{path}: expected the folder of a recording")
        differences = compare(options.old, options.new)
        print("\n".join(printed(differences, options.all)))
        return 1 if differences else 0
    new = options.homes if options.command == "make-homes" else options.out
    if new.exists():
        parser.error(f"{new}: expected a folder that does not exist yet")
    arena, homes = options.arena.absolute(), options.homes.absolute()
    if options.command == "make-homes":
        make_homes(arena, homes)
        return 0
    with (homes / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # copies lie at one path
        record(arena, homes, options.out.absolute(), options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
