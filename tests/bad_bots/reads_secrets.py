"""Reads a secret of the operator's."""

import sys
from pathlib import Path

from _wire import commit

commit(lambda: Path(sys.argv[1]).read_text())
