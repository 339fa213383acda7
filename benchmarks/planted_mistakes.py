"""How many planted mistakes the tests catch, room by room: all tests, and README.md's command alone.

    git clone . COPY && python -m venv COPY/.venv && COPY/.venv/bin/pip install -e 'COPY[dev]' cosmic-ray
    COPY/.venv/bin/python -m benchmarks.planted_mistakes COPY results.jsonl [--mistakes 20] [--again earlier.jsonl]

cosmic-ray lists what can be changed in the functions of a room; a place is drawn, then a change of it. Each mistake is
planted in COPY, alone, and the tests run in stages until one fails: those of the room and those of rooms that import
it, both as README.md's command selects them, then the others of both. A test that fails has to fail alone as well, for
a busy machine fails tests, too. A stage that takes five times as long as without a mistake counts as one that fails.
A run that was killed goes on; ``--again`` plants the mistakes of earlier results, in another version.
``results.jsonl.survivors`` has what no test caught; list those that change nothing to be observed for ``--equivalent``,
an identifier and the reason a line, and the table leaves them out.
"""

import argparse
import ast
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time
from collections import defaultdict
from difflib import unified_diff
from itertools import chain, zip_longest
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from tabulate import tabulate

ROOT = Path(__file__).parents[1]
ROOMS = {
    "games": (
        "games",
        "protocol match/test_game_mistakes.py site/test_match_page.py"
        " lab/solving lab/test_kernels.py lab/test_solver.py",
    ),
    "ratings": ("ratings", "analysis tournament/test_schedule.py tournament/test_tuning.py"),
    "protocol": ("protocol", "botkit match"),
    "store": ("store", "tournament/corrections"),
    "sandbox": ("sandbox", "tournament/executors match"),
    "site": ("site", "server/http"),
}
"""Of each room its tests, and those of rooms that import it and take bearable time."""
SAMPLE = "not soak and (not slow or slow(sample=True))"
ALL = "not soak"
SAME = re.compile(r"_(Eq_Is|NotEq_IsNot|Is_Eq|IsNot_NotEq)$")
"""Operators whose change of small integers, enumerations and None is none."""
MOST_RUNS = 3
"""Of a stage in which other tests fail each time, and pass alone."""
NO_TESTS = 5
"""pytest's exit code where none was selected."""


def operators():
    """Return the operators without arguments, by name."""
    classes = {name: get_operator(name) for name in sorted(operator_names()) if not SAME.search(name)}
    return {name: each() for name, each in classes.items() if not each.arguments()}


def lines_of_functions(code):
    """Return the numbers of the lines in bodies of functions."""
    functions = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {line for each in functions for line in range(each.body[0].lineno, each.end_lineno + 1)}


def meaning(code):
    """Return the syntax without annotations; None if there is a mistake that Python finds."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if getattr(node, name, None) is not None:
                setattr(node, name, ast.Constant(None))
    return ast.dump(tree)


def places(copy, room):
    """Return by file, line and column the operators that change something there, each with its occurrence."""
    found = defaultdict(list)
    for path in sorted((copy / "arena" / room).rglob("*.py")):
        code = path.read_text()
        inside, nodes = lines_of_functions(code), list(ast_nodes(get_ast(code)))
        for name, operator in operators().items():
            positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
            for occurrence, (line, column) in enumerate(positions):
                if line in inside:
                    found[str(path.relative_to(copy)), line, column].append((name, occurrence))
    return found


def mistake(copy, room, file, operator, occurrence):
    """Return a mistake, or None if it changes nothing that runs."""
    code = (copy / file).read_text()
    try:
        changed = mutate_code(code, get_operator(operator)(), occurrence)
    except AttributeError:  # cosmic-ray cannot replace an exception with a dot in its name
        return None
    if changed is None or meaning(changed) in (None, meaning(code)):
        return None
    diff = list(unified_diff(code.splitlines(), changed.splitlines(), file, file, n=3, lineterm=""))
    return {"id": f"{file}:{operator}:{occurrence}", "room": room, "diff": diff, "changed": changed}


def draw(copy, room, count, seed):
    """Return mistakes at places that are drawn."""
    rng, found = random.Random(f"{seed} {room}"), places(copy, room)
    drawn = []
    for place in rng.sample(sorted(found), len(found)):
        one = mistake(copy, room, place[0], *rng.choice(found[place]))
        if one is not None and len(drawn) < count:
            drawn.append(one)
        if len(drawn) == count:
            break
    return drawn


def changed_lines(diff):
    return [line for line in diff[2:] if line[0] in "+-"]


def find_again(copy, earlier):
    """Return an earlier mistake in this version, at the same words; None where they are no more."""
    file, operator, occurrence = earlier["id"].split(":")
    if not (copy / file).exists():
        return None
    code = (copy / file).read_text()
    count = sum(len(list(get_operator(operator)().mutation_positions(node))) for node in ast_nodes(get_ast(code)))
    for number in sorted(range(count), key=lambda number: abs(number - int(occurrence))):
        one = mistake(copy, earlier["room"], file, operator, number)
        if one and changed_lines(one["diff"]) == changed_lines(earlier["diff"]):
            return {**one, "id": earlier["id"]}
    return None


class Stages:
    """The tests of a copy, in stages."""

    def __init__(self, copy, readme, workers, results):
        self._copy, self._readme, self._workers, self._results = copy, readme, workers, results
        self._seconds = {(line["room"], line["stage"]): line["seconds"] for line in read(results) if "seconds" in line}

    def stages(self, room):
        own, importing = ([f"tests/{name}" for name in names.split()] for names in ROOMS[room])
        rest = f"{ALL} and not ({self._readme})"
        return [(own, self._readme), (importing, self._readme), (sorted(own + importing), rest)]

    def seconds(self, room, number):
        """Return the time of a stage without a mistake, in which all tests have to pass, or no catch says anything."""
        if (room, number) not in self._seconds:
            failure, seconds = self._failure(self.stages(room)[number - 1], timeout=1800)
            if failure:
                raise SystemExit(f"{room}, stage {number}: fails without a mistake: {failure}")
            self._seconds[room, number] = seconds
            write(self._results, {"room": room, "stage": number, "seconds": seconds})
        return self._seconds[room, number]

    def catch(self, one):
        """Plant a mistake; return the stage that caught it, from 1, or None, and what failed."""
        path = self._copy / one["id"].partition(":")[0]
        code, status = path.read_bytes(), path.stat()
        for number, stage in enumerate(self.stages(one["room"]), 1):
            timeout = max(60, 5 * self.seconds(one["room"], number))
            path.write_text(one["changed"])
            try:
                failure, _ = self._failure(stage, timeout)
            finally:
                path.write_bytes(code)
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # bytecode of the mistake is out of date
            if failure:
                return number, failure
        return None, ""

    def _failure(self, stage, timeout):
        """Return what fails in a stage, and alone as well; and the seconds that the stage took."""
        for _ in range(MOST_RUNS):
            failure, seconds = self._run(*stage, timeout=timeout)
            if "::" not in failure or self._run([failure], ALL, timeout)[0]:
                return failure, seconds
        return "", seconds

    def _run(self, paths, selection, timeout):
        begun = time.monotonic()
        command = [self._copy / ".venv/bin/python", "-m", "pytest", "-x", "-rfE", "-p", "no:cacheprovider"]
        command += ["-n", str(self._workers), "--dist", "loadfile", "-m", selection, *paths]
        process = subprocess.Popen(
            list(map(str, command)),
            cwd=self._copy,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return "timeout", timeout
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        seconds = round(time.monotonic() - begun, 1)
        if process.returncode in (0, NO_TESTS):
            return "", seconds
        failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, re.MULTILINE)
        return failed[0] if failed else f"exit code {process.returncode}", seconds


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def write(path, line):
    with path.open("a") as file:
        file.write(f"{json.dumps(line)}\n")


def table(lines, equivalent):
    """Return the rows of rooms, and one of all of them."""
    rows = []
    for room in [*ROOMS, "all"]:
        of_room = [line for line in lines if "id" in line and room in ("all", line["room"])]
        counted = [line for line in of_room if line["id"] not in equivalent]
        caught = [line["stage"] for line in counted if line["stage"]]
        by_readme = sum(stage < 3 for stage in caught)
        shares = [
            f"{100 * part / whole:.0f} %" if whole else "–"
            for part, whole in ((len(caught), len(counted)), (by_readme, len(caught)))
        ]
        rows.append([room, len(of_room), len(of_room) - len(counted), len(caught), shares[0], by_readme, shares[1]])
    heads = ["room", "planted", "equivalent", "caught by all", "share", "by README's command", "of those caught"]
    return tabulate(rows, heads, tablefmt="github", disable_numparse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("copy", type=Path, help="a clone that nobody works in, with the package in its .venv")
    parser.add_argument("results", type=Path, help="a file of JSON lines, which is continued")
    parser.add_argument("--mistakes", type=int, default=20, help="for each room")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, help="earlier results, whose mistakes are planted instead")
    parser.add_argument("--readme", default=SAMPLE, help="what README.md's command selects, as pytest's -m")
    parser.add_argument("--workers", type=int, default=2, help="of pytest-xdist")
    parser.add_argument("--equivalent", type=Path, help="identifiers of mistakes that change nothing, with the reasons")
    options = parser.parse_args()
    copy = options.copy.resolve()
    if copy == ROOT or subprocess.check_output(["git", "-C", copy, "status", "--porcelain", "arena"]):
        parser.error(f"{copy} is this checkout, or its arena/ is changed: git -C {copy} checkout arena")
    stages = Stages(copy, options.readme, options.workers, options.results)
    done = {line.get("id") for line in read(options.results)}
    by_room = []
    for room in options.rooms:
        if options.again:
            earlier = [line for line in read(options.again) if "id" in line and line["room"] == room]
            found = [find_again(copy, line) for line in earlier]
            print(f"{room}: {found.count(None)} of {len(found)} mistakes are at words that are no more")
            by_room.append([one for one in found if one])
        else:
            by_room.append(draw(copy, room, options.mistakes, options.seed))
    for one in filter(None, chain.from_iterable(zip_longest(*by_room))):  # a run that ends early has some of each room
        if one["id"] in done:
            continue
        stage, failure = stages.catch(one)
        print(f"{one['id']}: {f'stage {stage}, {failure}' if stage else 'survived'}", flush=True)
        write(
            options.results, {**{key: one[key] for key in ("id", "room", "diff")}, "stage": stage, "failure": failure}
        )
    lines = read(options.results)
    survivors = ["\n".join([line["id"], *line["diff"]]) for line in lines if "id" in line and not line["stage"]]
    options.results.with_name(f"{options.results.name}.survivors").write_text("\n\n".join(survivors))
    equivalent = {line.split()[0] for line in options.equivalent.read_text().splitlines()} if options.equivalent else ()
    print(f"\n{table(lines, equivalent)}")


if __name__ == "__main__":
    main()
