"""``arena serve``: the site."""

from __future__ import annotations

import click

from arena.cli.common import open_home
from arena.cli.options import WholeNumber


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="HOST", help="The address to listen on.")
@click.option("--port", type=WholeNumber(1, 65535), default=8000, show_default=True, help="The port to listen on.")
def command(host: str, port: int) -> None:
    """Show an arena's home in a browser."""
    import uvicorn

    from arena.web.app import application

    with open_home(must_exist=True) as arena_home:
        click.echo(f"http://{host}:{port}/")
        uvicorn.run(application(arena_home), host=host, port=port, log_level="warning")
