from pathlib import Path

from _wire import commit


def deed():
    path = Path(__file__).with_name("memory")
    if path.exists():
        return "read what an earlier match had left"
    path.write_text("I was here")
    return "left something"


commit(deed)
