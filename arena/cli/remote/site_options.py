"""Options of commands that ask the site of an arena."""

from __future__ import annotations

import click

plain_http_option = click.option(
    "--plain-http", is_flag=True, help="Allow http:// to other machines: everybody on the way can read the token."
)
