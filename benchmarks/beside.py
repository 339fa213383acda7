"""Figures of this version of the arena beside those of an earlier one, in one run: both are measured alternately.

    git worktree add --detach ../before COMMIT
    python -m benchmarks.beside --before ../before

Every measurement is a process of its own, started in a directory where ``arena`` is the version to be measured and
``benchmarks`` is this package, so that both versions are measured by the same code. Medians of the rounds.
"""

import argparse
import json
import math
import os
import pkgutil
import statistics
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import benchmarks.figures
from benchmarks.common import machine

ROOT = Path(__file__).parents[1]
CODE = "import json, sys; from importlib import import_module; print(json.dumps(import_module(sys.argv[1]).measure()))"


def names_of_figures():
    return sorted(module.name for module in pkgutil.iter_modules(benchmarks.figures.__path__))


def measured(name, checkout):
    """Return the figures of one module, measured on the arena of a checkout."""
    with tempfile.TemporaryDirectory() as directory:
        for package, source in {"arena": checkout, "bots": checkout, "benchmarks": ROOT}.items():
            (Path(directory) / package).symlink_to(Path(source).resolve() / package)
        command = [sys.executable, "-c", CODE, f"benchmarks.figures.{name}"]
        environment = {**os.environ, "PYTHONPATH": directory}
        run = subprocess.run(command, cwd=directory, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        print(f"{name} on {checkout}: exit code {run.returncode}", file=sys.stderr)
        return {}
    return json.loads(run.stdout.splitlines()[-1])


def medians(rounds):
    """Return the median of each figure over the rounds that have it."""
    keys = dict.fromkeys(key for values in rounds for key in values)
    return {key: statistics.median(values[key] for values in rounds if key in values) for key in keys}


def text(value):
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path, help="a checkout of the earlier version")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each version (default: 3)")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(names_of_figures())}; by default all")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(names_of_figures()))
    if unknown:
        parser.error(f"figures {', '.join(unknown)}: expected {', '.join(names_of_figures())}")
    if arguments.before is not None and not (arguments.before / "arena" / "__init__.py").is_file():
        parser.error(f"--before {arguments.before}: expected a checkout with arena/__init__.py")
    versions = {"now": ROOT} if arguments.before is None else {"before": arguments.before, "now": ROOT}
    print(f"{machine()}\n")
    print(f"| figure | {' | '.join(versions)} |\n| --- |{' --- |' * len(versions)}", flush=True)
    for name in arguments.names or names_of_figures():
        rounds = {version: [] for version in versions}
        for _ in range(arguments.rounds):
            for version, checkout in versions.items():
                rounds[version].append(measured(name, checkout))
        values = {version: medians(measurements) for version, measurements in rounds.items()}
        for key in dict.fromkeys(key for figures in values.values() for key in figures):
            cells = [text(figures.get(key)) for figures in values.values()]
            print(f"| {key} | {' | '.join(cells)} |", flush=True)
    for name in arguments.names or names_of_figures():
        print(f"\n**{name}**: {(import_module(f'benchmarks.figures.{name}').__doc__ or '').strip()}")


if __name__ == "__main__":
    main()
