import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from arena.server.operating import health_check
from arena.server.operating.health_check import main, port_of


@pytest.mark.parametrize(
    ("command_line", "port"),
    [
        (["arena", "serve", "--public"], "8000"),
        (["arena", "serve", "--port", "9000", "--public"], "9000"),
        (["arena", "serve", "--port=9001"], "9001"),
        (["init", "--", "arena", "serve", "--port", "1", "--port", "2"], "2"),
        (["arena", "serve", "--port"], ""),
    ],
)
def test_the_port_is_that_of_the_command_line(command_line, port):
    assert port_of(command_line) == port


@contextmanager
def answering(status):
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_it_asks_there(tmp_path, monkeypatch, status, code):
    monkeypatch.setattr(health_check, "FIRST_PROCESS", tmp_path / "cmdline")
    with answering(status) as port:
        (tmp_path / "cmdline").write_text(f"python\0arena\0serve\0--port\0{port}\0")
        assert main() == code
    assert main() == 1  # it has ended
    for text in ("--port", "--port=x", "--port=\udcff", "--port=-1", "--port=99999999"):  # none of them is a port
        (tmp_path / "cmdline").write_bytes(f"arena\0{text}\0".encode(errors="surrogateescape"))
        assert main() == 1
