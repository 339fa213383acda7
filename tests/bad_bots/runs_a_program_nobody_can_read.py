import os
import shutil
import subprocess
import sys

from _wire import play_hog

HOG = "import time; kept = bytearray(b'x' * 60_000_000); time.sleep(1000)"


def hog():
    program = os.path.join(os.environ["TMPDIR"], "python")
    created = os.open(program, os.O_CREAT | os.O_WRONLY, 0o111)  # chmod has no effect where bots share the disk
    with open(os.path.realpath(sys.executable), "rb") as python, open(created, "wb") as copy:
        shutil.copyfileobj(python, copy)
    environment = {"PYTHONHOME": f"{sys.base_prefix}:{sys.base_exec_prefix}"}
    for _ in range(10):
        subprocess.Popen([program, "-I", "-S", "-c", HOG], env=environment)


play_hog(hog, 3.5)
