"""``arena home backup``: a home as a folder that can be kept elsewhere, and a home from such a folder."""

from __future__ import annotations

import re
from pathlib import Path

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.text import counted, short_size_text
from arena.cli.terminal.common import open_home, print_done
from arena.cli.terminal.global_options import Subcommands, global_option
from arena.cli.terminal.options import A_PATH, json_option
from arena.cli.terminal.streams import FAILED, OK
from arena.store.home import home_path, people_url, store_url

DIGEST = re.compile("[0-9a-f]{64}")

SECRETS = "It has hashes of passwords, addresses and what authors submitted: keep it as you keep the home itself."


@click.group("backup", cls=Subcommands)
def backup_command() -> None:
    """Copy a home into a folder while it is used, and make a home from such a folder.

    \b
    arena home backup make /backups/monday
    arena home backup verify /backups/monday

    A backup has the results, the people, submitted bots, uploads and contests. It has hashes of passwords, digests of
    sessions, tokens and links, addresses, and what authors submitted: keep it as you keep the home itself.
    """


@backup_command.command("make")
@click.argument("out", metavar="OUT", type=A_PATH)
@click.option("--logs", "with_logs", is_flag=True, help="Copy the logs of runs as well.")
@json_option
def make(out: Path, with_logs: bool, as_json: bool) -> None:
    """Write the home into OUT, a new folder that only you can read.

    Everything may go on meanwhile: the backup is of the moment when it begins. Databases on a PostgreSQL server are
    written as SQLite files, so that a backup can be restored with or without a server.
    """
    from arena.store.backup.writing import make_backup

    with open_home(must_exist=True) as arena_home:
        backup = make_backup(arena_home, out, with_logs=with_logs)
    if backup.left_out:
        names = ", ".join(backup.left_out[:10])
        click.echo(
            printable(f"arena: not in the backup, for no service of the arena has put it there: {names}"), err=True
        )
    contents = f"{counted(backup.files, 'file')}, {short_size_text(backup.size_bytes)}"
    values = {"files": backup.files, "bytes": backup.size_bytes, "digest": backup.digest}
    print_done(as_json, values, f"{out} has {contents}. {SECRETS}", f"Its digest is {backup.digest}")


@backup_command.command("verify")
@click.argument("folder", metavar="FOLDER", type=A_PATH)
@json_option
def verify(folder: Path, as_json: bool) -> int:
    """Compare every file of the backup in FOLDER with its digest."""
    from arena.store.backup.restoring import verify_backup

    try:
        files, size_bytes, digest = verify_backup(folder)
    except UsageError as error:
        print_done(as_json, {"is_whole": False, "problem": str(error)}, str(error))
        return FAILED
    values = {"is_whole": True, "files": files, "bytes": size_bytes, "digest": digest}
    sentence = f"{folder} is whole: {counted(files, 'file')}, {short_size_text(size_bytes)}."
    print_done(as_json, values, sentence, f"Its digest is {digest}")
    return OK


@backup_command.command("restore")
@click.argument("folder", metavar="FOLDER", type=A_PATH)
@click.option("--digest", metavar="DIGEST", help="The digest of the backup, as `arena home backup make` printed it.")
@json_option
def restore(folder: Path, digest: str | None, as_json: bool) -> None:
    """Make a home from the backup in FOLDER.

    Nothing, or an empty directory, may be where `--home` says. With `--store URL` the results go into an empty
    PostgreSQL database, and people do if $ARENA_PEOPLE has its URL. Whoever has made a backup decides who signs in at
    what is restored from it: take your own, or compare the digest.
    """
    from arena.store.backup.restoring import Target, restore_backup

    if digest is not None and not DIGEST.fullmatch(digest):
        raise UsageError(
            f"--digest {digest!r:.90}: expected 64 digits and letters a-f, as arena home backup make prints"
        )
    home = home_path(global_option("home"))
    target = Target(home, global_option("store") or store_url(), people_url())
    restored = restore_backup(folder, target, digest)
    people = "with its people" if restored.has_people else "without people, for the backup has none"
    values = {"home": str(home), "files": restored.files, "made_at": restored.made_at, "digest": restored.digest}
    sentence = f"{home} is as it was at {restored.made_at}, {people} ({counted(restored.files, 'file')})."
    print_done(as_json, values, sentence)
