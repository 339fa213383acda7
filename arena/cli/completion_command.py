"""``arena completion``: a script by which a shell completes command lines of the arena."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script by which SHELL (bash, zsh or fish) completes commands, options, and the names of tournaments,
    matches, bots and games.

    \b
    Where to put it:
      bash  in ~/.bashrc:                eval "$(arena completion bash)"
      zsh   in ~/.zshrc, after compinit: eval "$(arena completion zsh)"
      fish  arena completion fish > ~/.config/fish/completions/arena.fish

    It takes effect in the next shell. Names are those in the home that the line names, in $ARENA_HOME, or in .arena.
    """
    from click.shell_completion import get_completion_class

    from arena.cli import completion  # noqa: F401 - its bash replaces that of click
    from arena.cli.group import COMPLETION

    shell_class = get_completion_class(shell)
    assert shell_class is not None
    click.echo(shell_class(context.find_root().command, {}, "arena", COMPLETION).source())
