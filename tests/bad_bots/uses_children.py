import subprocess
import sys

from _wire import answer, play, send


def think(message):
    done = subprocess.run([sys.executable, "-I", "-S", "-c", "print(0)"], capture_output=True, text=True, check=True)
    send(answer(message, action=message["legal"][int(done.stdout)]))


play(think)
