"""Makes its parent slow."""

import os

from _wire import commit

commit(lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 5) or "lowered")
