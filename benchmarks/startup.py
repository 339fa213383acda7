"""``arena --help`` beside a bare Python, and starting a bot beside a bare Popen; medians, taken in turn."""

import statistics
import subprocess
import sys
import time

from arena.players.process import BotProcess
from arena.protocol.frames import encode_frame
from benchmarks.common import instant_bot, machine

RUNS = 30


def milliseconds(action):
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1e3


def start_bot(isolation):
    bot = instant_bot()
    process = BotProcess(bot.command, bot.directory, isolation)
    process.ask(encode_frame({"type": "hello"}), 5.0)
    process.end(encode_frame({"type": "quit"}), 1.0)


def bare_popen():
    with subprocess.Popen(instant_bot().command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(encode_frame({"type": "hello"}))
        process.stdin.flush()
        process.stdout.read(4)
        process.stdin.close()


def main():
    print(machine())
    actions = {
        "python -c pass": lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
        "arena --help": lambda: subprocess.run(
            [sys.executable, "-m", "arena", "--help"], check=True, stdout=subprocess.DEVNULL
        ),
        "start and end an instant C bot, bare Popen": bare_popen,
        "the same by the arena, level none": lambda: start_bot("none"),
        "the same by the arena, level limits": lambda: start_bot("limits"),
    }
    for action in actions.values():
        action()
    taken = {name: [] for name in actions}
    for _ in range(RUNS):
        for name, action in actions.items():
            taken[name].append(milliseconds(action))
    for name, values in taken.items():
        print(f"{name}: {statistics.median(values):.2f} ms")


if __name__ == "__main__":
    main()
