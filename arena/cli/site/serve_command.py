"""``arena serve``: the site, and the options by which it is served."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from arena.base.errors import UsageError
from arena.base.machine import is_loopback
from arena.base.programs.log_lines import FORMAT_VARIABLE, FORMATS, TEXT, set_up_logging
from arena.base.programs.systemd import take_inherited_socket
from arena.base.shipped import PREFIX
from arena.cli.terminal.common import open_home
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import WholeNumber
from arena.cli.terminal.streams import INTERRUPTED, OK
from arena.server.operating.service_programs import (
    WEB,
    WORK,
    Program,
    locked_for_visitors,
    locked_services,
    programs,
)
from arena.store.home import STORE_VARIABLE, open_people, open_visitors, own_databases, resolved_home

if TYPE_CHECKING:
    import socket


OPEN_LADDER = "arena:open_ladder"
NO_LADDER = "none"

host_option = click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="HOST", help="The address to listen on."
)

port_option = click.option(
    "--port", type=WholeNumber(0, 65535), default=8000, show_default=True, help="The port; 0 for any."
)

MAX_PLAY_SLOTS = 200
MAX_PORT = 65535


class SiteOptions(NamedTuple):
    """Where a site is reached, and what is played beside it: the options of ``arena serve`` that its units have too."""

    host: str
    port: int
    public: bool
    allowed_hosts: tuple[str, ...]
    ladders: tuple[str, ...]
    play_slots: int
    trusted_proxies: tuple[str, ...]
    metrics_address: str | None

    def check_reach(self) -> None:
        """Raise UsageError for an address that other machines can reach, unless the site is public."""
        if not self.public and not is_loopback(self.host):
            raise UsageError(
                f"--host {self.host!r}: other machines may reach it, and would see everything; add --public to allow it"
            )

    def chosen_ladders(self) -> Sequence[str]:
        if NO_LADDER not in self.ladders:
            return self.ladders or (OPEN_LADDER,)
        others = [file for file in self.ladders if file != NO_LADDER]
        if others:
            raise UsageError(f"--ladder {NO_LADDER}: no ladder is played, so leave out --ladder {others[0]}")
        return ()

    def metrics_place(self, address: str) -> tuple[str, int]:
        host, colon, port = address.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or not (port.isascii() and port.isdigit()) or int(port[:6]) > MAX_PORT:
            raise UsageError(f"--metrics-address {address!r}: expected HOST:PORT, such as 127.0.0.1:9100")
        if not self.public and not is_loopback(host):
            raise UsageError(
                f"--metrics-address {address!r}: other machines may reach it, and metrics are for operators;"
                " add --public to allow it"
            )
        return host, int(port)


_DECLARED = (
    host_option,
    port_option,
    click.option("--public", is_flag=True, help="Allow an address that other machines can reach."),
    click.option(
        "--allowed-host",
        "allowed_hosts",
        multiple=True,
        metavar="NAME",
        help="A name under which the site is reached; repeatable.",
    ),
    click.option(
        "--ladder",
        "ladders",
        multiple=True,
        metavar="FILE",
        help=f"A ladder that submitted bots enter; repeatable, or {NO_LADDER!r} [default: {OPEN_LADDER}].",
    ),
    click.option(
        "--play-slots",
        type=WholeNumber(0, MAX_PLAY_SLOTS),
        default=4,
        show_default=True,
        help="How many people may play against bots at once, on a site for authors or on this machine; 0 for nobody.",
    ),
    click.option(
        "--trusted-proxy",
        "trusted_proxies",
        multiple=True,
        metavar="ADDRESS",
        help="A proxy whose X-Forwarded headers are believed; repeatable.",
    ),
    click.option(
        "--metrics-address",
        metavar="HOST:PORT",
        help="Serve metrics for Prometheus at http://HOST:PORT/metrics, not on the site itself.",
    ),
)


def site_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a site; the command gets ``site``."""

    @wraps(function)
    def command(*arguments: Any, **given: Any) -> int:
        return function(*arguments, site=SiteOptions(*map(given.pop, SiteOptions._fields)), **given)

    for option in reversed(_DECLARED):
        command = option(command)
    return command


NEEDED = ("starlette", "uvicorn", "httptools", "argon2", "python_multipart")

NEEDED_BY_WORK = ("argon2",)

AUTHORS, VISITORS = "authors", "visitors"
OF_WORK = ("ladders", "play_slots")
"""The options of the process that checks and plays; the others belong to the web process."""
OF_BOTH = ("only", "log_format")


@click.command("serve")
@click.option(
    "--only",
    type=click.Choice([WEB, WORK]),
    help="Run the web process alone, or what checks and plays; without it, one process starts all.",
)
@site_options
@click.option("--open", "is_opened", is_flag=True, help="Open the first page in a browser.")
@click.option(
    "--open-to",
    "open_to",
    type=click.Choice([VISITORS, AUTHORS]),
    default=VISITORS,
    show_default=True,
    help="Who may enter: visitors only look; authors have accounts.",
)
@click.option("--log-requests", is_flag=True, help="Log each request in a line.")
@click.option(
    "--log-format",
    type=click.Choice(FORMATS),
    help=f"The form of lines on stderr [default: ${FORMAT_VARIABLE}, or {TEXT}].",
)
@click.pass_context
def serve_command(
    context: click.Context,
    only: str | None,
    site: SiteOptions,
    is_opened: bool,
    open_to: str,
    log_requests: bool,
    log_format: str | None,
) -> int:
    """Show tournaments, bots and matches in a browser, live while they are played.

    Visitors need no account, and change nothing. Everybody who reaches HOST can see everything in the home, so other
    machines only reach it with `--public`.

    With `--open-to authors` people sign in and submit bots, which enter the ladders by themselves. Make the first
    account with `arena site people add`. One process starts all services; `--only` runs a part of them alone, as the
    units of `arena site units` do.
    """
    if log_format is not None:
        os.environ[FORMAT_VARIABLE] = log_format  # also for the programs that are started
    if only is not None:
        _refuse_options_of_the_other(context, only)
        if only == WORK:
            return _run_work(site)
    require_packages(NEEDED)

    inherited = take_inherited_socket()
    if inherited is not None:
        _refuse_addresses(context)
        site = site._replace(host=inherited.getsockname()[0])
    site.check_reach()
    if open_to != AUTHORS and site.ladders and site.chosen_ladders():
        raise UsageError(
            f"--ladder {site.ladders[0]}: bots enter ladders where authors submit them; add --open-to authors"
        )
    from arena.community.submissions.upload_directory import noted_refusal
    from arena.sandbox.isolation.control_groups import divide_delegated_group
    from arena.server.http.addresses import Hosts, checked_hosts, checked_proxies, warn_of_plain_http
    from arena.server.http.app import Site
    from arena.server.http.events import Events
    from arena.server.http.observation import Observer, let_requests_be_logged, log_request
    from arena.server.http.opened_home import OpenedHome
    from arena.server.http.server import Beside, listen, serve
    from arena.server.http.supervisor import Supervisor
    from arena.server.operations.opened_people import OpenedPeople

    set_up_logging(logging.NOTSET if log_requests else logging.WARNING)
    observers: list[Observer] = []
    if log_requests:
        let_requests_be_logged()
        observers.append(log_request)
    store = global_option("store")
    proxies, hosts = checked_proxies(site.trusted_proxies), Hosts(site.host, checked_hosts(site.allowed_hosts))
    is_open = open_to == AUTHORS
    programs = _programs(site) if is_open and only is None else ()
    with ExitStack() as opened:
        if programs:
            divide_delegated_group()
        if is_open or (global_option("home") is None and store is None):
            open_home().close()  # so that there is one, which waits for its first tournament
        if is_open:
            warn_of_plain_http(site.host, proxies)
            own_databases(_directory(), store)
            opened.enter_context(locked_services(_directory(), [WEB, WORK] if programs else [WEB]))
        elif only is None:
            is_local = is_loopback(site.host) and not (site.public or site.allowed_hosts or site.trusted_proxies)
            _pass_store_on()
            play_slots = site.play_slots if is_local and inherited is None else 0
            programs = opened.enter_context(locked_for_visitors(_directory(), play_slots, bool(store)))
        home = opened.enter_context(closing(OpenedHome(global_option("home"), store)))
        people = None
        if is_open or any(program.of_visitors for program in programs):
            # if the checker runs apart, this program can't sandbox anything
            obstacle = None if only is None else partial(noted_refusal, _directory())
            entered = OpenedPeople(_directory(), obstacle, store, visitors_only=not is_open)
            people = opened.enter_context(closing(entered))
        problems = people.problems if people is not None and is_open else tuple
        listening = opened.enter_context(inherited or listen(site.host, site.port))
        address = _address(site.host, listening)
        beside_listening = None
        if site.metrics_address is not None:
            from arena.server.http.metrics import RequestMetrics, StateMetrics, metrics_app

            requests = RequestMetrics()
            place = site.metrics_place(site.metrics_address)
            beside_listening = opened.enter_context(listen(*place, "--metrics-address", "--metrics-address port"))
            observers.append(requests)
        events = Events(home, people.contest_news.number) if people is not None else Events(home)
        served = Site(
            home,
            versions=events.watcher,
            hosts=hosts,
            store=store,
            events=events,
            endpoints=people.gate.endpoints if people is not None else (),
            links=people.links if people is not None else None,
            problems=problems,
            end_streams=people.gate.end_streams if people is not None else None,
            end=people.gate.close if people is not None else None,
            observers=observers,
            frozen=people.contest_news.frozen if people is not None else lambda _: None,
            supervisor=Supervisor(_directory(), programs, open_people if is_open else open_visitors)
            if programs
            else None,
        )
        if people is not None:
            people.show_pages_of(served.cache)
        beside_site = None
        if beside_listening is not None:
            state = StateMetrics(
                home,
                _directory(),
                served.builders,
                lambda: served.event_readers,
                people.store if people is not None else None,
                problems,
            )
            metrics_host = beside_listening.getsockname()[0]
            app = metrics_app(Hosts(metrics_host, site.allowed_hosts), requests.metrics, state.metrics)
            beside_site = Beside(app, beside_listening)
            click.echo(f"Metrics are at {_address(metrics_host, beside_listening)}metrics", err=True)
        ready = partial(_report_start, address, is_opened)
        is_interrupted = serve(served, listening, ready, proxies, beside_site, is_inherited=inherited is not None)
        return INTERRUPTED if is_interrupted else OK


def _refuse_options_of_the_other(context: click.Context, only: str) -> None:
    for option in context.command.params:
        is_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if not is_given or option.name in OF_BOTH or not option.expose_value:
            continue
        if (option.name in OF_WORK) != (only == WORK):
            raise UsageError(f"{option.opts[0]}: --only {only} has no use for it")


def _refuse_addresses(context: click.Context) -> None:
    """Raise UsageError if an address is given although the service manager passes a socket."""
    for name in ("host", "port"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise UsageError(f"--{name}: the socket unit says where the site listens; leave it out here")


def _run_work(site: SiteOptions) -> int:
    from arena.sandbox.isolation.control_groups import divide_delegated_group
    from arena.server.http.supervisor import run_work

    divide_delegated_group()
    require_packages(NEEDED_BY_WORK)
    open_home().close()
    own_databases(_directory(), global_option("store"))
    started = _programs(site)
    with locked_services(_directory(), [WORK]):
        return INTERRUPTED if run_work(_directory(), started) else OK


def _programs(site: SiteOptions) -> tuple[Program, ...]:
    _pass_store_on()
    return programs(_directory(), _checked_ladders(site.chosen_ladders()), site.play_slots)


def _pass_store_on() -> None:
    """Pass the store's address on to programs; not by an argument, as everybody on the machine sees those."""
    if store := global_option("store"):
        os.environ[STORE_VARIABLE] = store


def _directory() -> Path:
    return resolved_home(global_option("home"))


def _checked_ladders(files: Sequence[str]) -> list[tuple[str, str]]:
    from arena.community.ladders.open_ladder import OpenLadder

    with open_home() as home:
        names = [OpenLadder(file, home).name for file in files]
    return [
        (name, file if file.startswith(PREFIX) else str(Path(file).resolve()))
        for name, file in zip(names, files, strict=True)
    ]


def require_packages(names: Sequence[str]) -> None:
    from importlib.util import find_spec

    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise UsageError(f"arena serve needs the package {missing[0]}; try: pip install 'grid-arena[web]'")


def _address(host: str, listening: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listening.getsockname()[1]}/"


def _report_start(address: str, is_opened: bool) -> None:
    click.echo(f"The arena is at {address} (Ctrl-C ends it)")
    if is_opened:
        click.launch(address)
