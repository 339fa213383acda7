"""What this machine can offer to others, and the systemd units that serve an arena from it."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import click
from click.core import ParameterSource

from arena.analysis.text.tables import Column, printable
from arena.base.enums import IsolationLevel
from arena.base.errors import UsageError, failing_as
from arena.base.shipped import PREFIX, tournament_path
from arena.base.text import counted
from arena.cli.site.serve_command import NEEDED, SiteOptions, host_option, port_option, require_packages, site_options
from arena.cli.terminal.common import print_table, print_wrapped
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import FilePath, WholeNumber, json_option
from arena.cli.terminal.streams import FAILED, OK
from arena.games.kernels.loading import kernels_sentence
from arena.sandbox.isolation.control_groups import divide_delegated_group
from arena.sandbox.isolation.levels import PREFERRED, ProbeResult, groups_problem, probe_level
from arena.sandbox.isolation.sandbox_policy import has_own_file_systems
from arena.server.operating.service_programs import FIRST_LINE, Installation, units
from arena.store.home import resolved_home, store_url


@click.command("doctor")
@click.option("--clock", is_flag=True, help="Measure what a turn costs beside the bot's own time.")
@click.option(
    "--turns", type=WholeNumber(100, 1_000_000), default=5000, show_default=True, help="Turns to measure, with --clock."
)
@click.option("--serve", "serves", is_flag=True, help="Say what this machine and the home can safely offer to others.")
@host_option
@port_option
@json_option
@click.pass_context
def doctor_command(
    context: click.Context, clock: bool, turns: int, serves: bool, host: str, port: int, as_json: bool
) -> int:
    """Show what bots can and can't do on this machine, and what to install.

    For every level, a program really tries to escape; the command infers nothing from version numbers. With `--serve`
    the exit code is 1 if something must be mended before strangers enter.
    """
    for name in ("host", "port"):
        if not serves and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name}: expected only together with --serve")
    if serves and clock:
        raise UsageError("--serve: can't be combined with --clock; expected one of them")
    if serves:
        return _show_what_can_be_served(host, port, as_json)
    if clock:
        _show_clock(turns, as_json)
        return OK
    results = [probe_level(level) for level in IsolationLevel]
    if as_json:
        click.echo(json.dumps([_as_dict(result) for result in results]))
    else:
        _show_levels(results)
        print_wrapped("", 0, kernels_sentence())
    return OK


def _show_what_can_be_served(host: str, port: int, as_json: bool) -> int:
    from arena.server.operating.serve_checks import findings, look_at, must_be_mended

    divide_delegated_group()  # as the services do
    directory = resolved_home(global_option("home"))
    all_findings = findings(look_at(directory, global_option("store") or store_url(), host, port))
    to_mend = len(list(must_be_mended(all_findings)))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in all_findings]))
        return FAILED if to_mend else OK
    click.echo(f"The home is {printable(str(directory))}; the address is {host}, port {port}.\n")
    width = max(len(finding.thing) for finding in all_findings)
    for finding in all_findings:
        head = f"{finding.verdict:4}  {finding.thing:{width}}  "
        print_wrapped(head, len(head), printable(finding.sentence))
    if to_mend:
        click.echo(f"\n{counted(to_mend, 'thing')} must be mended before strangers enter.")
    else:
        click.echo("\nStrangers may enter: arena serve --open-to authors, or arena site units.")
    return FAILED if to_mend else OK


def _as_dict(result: ProbeResult) -> dict[str, object]:
    isolation = result.isolation
    return {
        "level": isolation.level,
        "available": result.is_available,
        "cgroup": isolation.groups,
        "own_file_systems": result.is_available and has_own_file_systems(isolation),
        "problem": result.problem,
        "escapes": sorted(result.escapes),
    }


def _show_levels(results: list[ProbeResult]) -> None:
    system = os.uname()
    user = "as root, and bots under uids of their own" if os.geteuid() == 0 else "as an ordinary user, and so do bots"
    click.echo(f"{system.sysname} {system.release} on {system.machine}, Python {platform.python_version()}")
    click.echo(f"The arena runs {user}.\n")
    with_groups = {True: "yes, with control groups", False: "yes"}
    answers = [with_groups[result.isolation.groups] if result.is_available else "no" for result in results]
    width = max(map(len, ["here", *answers]))
    click.echo(f"{'level':10}  {'here':{width}}  what it restricts\n{'-' * 10}  {'-' * width}  {'-' * 17}")
    for result, answer in zip(results, answers, strict=True):
        level = result.isolation.level
        print_wrapped(f"{level:10}  {answer:{width}}  ", 10 + 2 + width + 2, level.restricts)
    best = next(
        result for name in PREFERRED for result in results if result.is_available and result.isolation.level == name
    )
    click.echo(f'\nBots run at {best.isolation.label} (isolation = "auto").')
    if best.isolation.level == IsolationLevel.NONE:
        click.echo("Nothing confines bots there: play only those that you trust.")
    elif best.escapes:
        print_wrapped("", 0, "A test program could still " + ", ".join(sorted(best.escapes)) + ".")
    else:
        click.echo("A test program tried to escape, and every attempt failed.")
    _show_advice(results, best)


def _show_advice(results: list[ProbeResult], best: ProbeResult) -> None:
    for result in results:
        if not result.is_available:
            print_wrapped("", 0, f"No {result.isolation.level}: {result.problem}.")
        elif result.untested and result.isolation.groups:
            print_wrapped("", 0, f"{result.untested}.")
    if sys.platform != "linux":
        return
    if not best.isolation.groups:
        print_wrapped(
            "",
            0,
            f"No control groups: {groups_problem(best)}. Limits of memory and processes apply to each process of a bot,"
            " and their sum is sampled ten times a second. To get control groups:"
            " systemd-run --user --scope -p Delegate=yes arena run …",
        )
    if not has_own_file_systems(best.isolation):
        print_wrapped(
            "",
            0,
            "No file systems of their own for bots: user namespaces don't work here. What bots write is counted ten"
            " times a second, and at landlock locks and shared memory of multiprocessing end in a PermissionError.",
        )


def _show_clock(turns: int, as_json: bool) -> None:
    from arena.match.players.turn_latency import measure_turns

    measured = measure_turns(turns)
    if as_json:
        click.echo(json.dumps([row._asdict() for row in measured]))
        return
    columns = [
        Column("where", "worker and bots", is_number=False),
        Column("p50_us", "p50 µs", 1),
        Column("p99_us", "p99 µs", 1),
        Column("max_us", "max µs", 1),
    ]
    click.echo(f"What a bot that answers at once is charged for a turn, over {turns:,} turns:\n")
    print_table(columns, [row._asdict() for row in measured], "text")
    worst = max(row.max_us for row in measured) / 1e6
    advice = "is plenty" if worst < 0.1 else f"is not enough here: use at least {2 * worst:.1f}"
    click.echo(f"\nThe default margin_seconds = 0.1 {advice}.")


_OF_SYSTEMD = Path("/etc/systemd/system")


@click.command("units")
@click.argument("directory", metavar="DIRECTORY", type=FilePath())
@click.option("--user", default="arena", show_default=True, metavar="NAME", help="The user who runs the arena.")
@site_options
def units_command(directory: str, user: str, site: SiteOptions) -> int:
    """Write systemd units, by which this installation serves a home to authors.

    They are a socket, a service for the site, one for what checks and plays, a slice and a target. DIRECTORY is
    /etc/systemd/system, or any other to look at them first. The command replaces units that are there, and removes
    those of earlier versions that this one does not need.
    """
    site.check_reach()
    if site.port == 0:
        raise UsageError("--port 0: the socket unit needs one that stays the same, such as 8000")
    require_packages(NEEDED)
    from arena.server.http.addresses import checked_hosts, checked_proxies

    named = [("--allowed-host", name) for name in checked_hosts(site.allowed_hosts)]
    named += [("--trusted-proxy", proxy) for proxy in checked_proxies(site.trusted_proxies)]
    if site.metrics_address is not None:
        if site.metrics_place(site.metrics_address)[1] == 0:
            raise UsageError(f"--metrics-address {site.metrics_address!r}: expected a port that is not 0")
        named.append(("--metrics-address", site.metrics_address))
    text_of_unit = units(
        Installation(
            home=resolved_home(global_option("home")),
            user=user,
            address=f"[{site.host}]:{site.port}" if ":" in site.host else f"{site.host}:{site.port}",
            is_public=site.public,
            options=tuple(word for option in named for word in option),
            play_slots=site.play_slots,
            has_metrics=site.metrics_address is not None,
            ladders=tuple(map(_ladder_file, site.chosen_ladders())),
            has_network=global_option("store") is not None,
        )
    )
    for name, text in text_of_unit.items():
        _write(Path(directory) / name, text)
    removed = list(_remove_earlier(Path(directory), text_of_unit))
    first = "" if Path(directory).resolve() == _OF_SYSTEMD else f" Copy them to {_OF_SYSTEMD} first."
    click.echo(f"{len(text_of_unit)} units are in {directory}.{first} To start the arena, now and with the machine:\n")
    if removed:
        click.echo(f"  systemctl stop {' '.join(removed)}")
    click.echo("  systemctl daemon-reload\n  systemctl enable --now arena.target arena-web.socket")
    return OK


def _remove_earlier(directory: Path, names: Mapping[str, str]) -> Iterator[str]:
    for path in sorted(directory.glob("arena-*.service")):
        if path.name not in names and path.read_text(encoding="utf-8", errors="replace").startswith(FIRST_LINE):
            path.unlink()
            yield path.name


def _ladder_file(ladder: str) -> str:
    if not os.path.isfile(tournament_path(ladder)):  # noqa: PTH113 - False also for a name that is too long
        raise UsageError(f"--ladder {ladder!r}: there is no such file")
    return ladder if ladder.startswith(PREFIX) else str(Path(ladder).resolve())


def _write(path: Path, text: str) -> None:
    with failing_as(UsageError, f"{path}: can't be written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
