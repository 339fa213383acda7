"""python3 test_wire.py: the codec against the golden frames."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from wire import frame, receive

lines = [line for line in (Path(__file__).parent / "golden_frames.txt").read_text().splitlines() if line[:1] not in "#"]
for line in lines:
    name, hexadecimal, text = line.split(" ", 2)
    sys.stdin = SimpleNamespace(buffer=io.BytesIO(bytes.fromhex(hexadecimal)))
    value = receive()
    assert value == json.loads(text), f"{name}: read as {value}"
    assert frame(value).hex() == hexadecimal, f"{name}: written as {frame(value).hex()}"
print(f"{len(lines)} frames are read and written as they should be")
