"""Lists the directory of its opponent."""

import os
import sys

from _wire import commit

commit(lambda: os.listdir(os.path.dirname(sys.argv[1])))
