import ctypes
import signal
import struct
import threading

from _hidden_work import OffTurn, work_for_ever
from _wire import play

CLOCK_MONOTONIC, SIGEV_SIGNAL = 1, 0
PERIOD = struct.pack("qqqq", 0, 20_000_000, 0, 20_000_000)

signal.signal(signal.SIGCONT, lambda *_: None)  # a timer whose signal is ignored is not set again
libc = ctypes.CDLL(None, use_errno=True)
timer = ctypes.c_void_p()
event = struct.pack("qii", 0, signal.SIGCONT, SIGEV_SIGNAL).ljust(64, b"\0")
if libc.timer_create(CLOCK_MONOTONIC, event, ctypes.byref(timer)) == 0:
    libc.timer_settime(timer, 0, PERIOD, None)
threading.Thread(target=work_for_ever, args=(0,), daemon=True).start()
play(OffTurn().answer)
