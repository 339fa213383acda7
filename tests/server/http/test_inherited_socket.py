import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from arena.base.programs.systemd import notify, take_inherited_socket, watchdog_seconds
from arena.cli.group import run
from tests.leftovers import own_errors

RESTARTS = 2
ROUNDS = 50
"""Of each client, at least."""

ACTIVATED = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = "1"
os.execv(sys.executable, [sys.executable, "-m", "arena", "serve", *sys.argv[2:]])
"""


class Manager:
    def __init__(self, directory, tmp_path):
        self.home = directory
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.address = self.listening.getsockname()
        self.heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.heard.bind(str(tmp_path / "notify"))
        self.heard.settimeout(60)
        self.environment = os.environ | {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}

    def start(self):
        fd = self.listening.fileno()
        command = [sys.executable, "-c", ACTIVATED, str(fd), "--home", str(self.home)]
        self.process = subprocess.Popen(
            command, env=self.environment, pass_fds=(fd,), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_for(self, word):
        while self.heard.recv(100).decode() != word:
            pass

    def end(self):
        self.heard.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self.heard.recv(100):  # or there is no room for what it says next
                pass
        self.heard.settimeout(60)
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, own_errors(err)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.listening.close()
        self.heard.close()


class Client(threading.Thread):
    def __init__(self, address, keeps_connection):
        super().__init__(daemon=True)
        self.address, self.keeps_connection = address, keeps_connection
        self.answered, self.failures, self.must_end = 0, [], threading.Event()

    def run(self):
        while not self.must_end.is_set():
            with contextlib.closing(http.client.HTTPConnection(*self.address, timeout=60)) as connection:
                self.ask_on(connection)

    def ask_on(self, connection):
        is_open = True
        while is_open and not self.must_end.is_set():
            try:
                connection.request("GET", "/tournaments/t.json")
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                return
            if answer.status != 200 or not body.endswith(b"}"):
                self.failures.append(answer.status)
            self.answered += 1
            is_open = self.keeps_connection and answer.headers["connection"] != "close"


@pytest.mark.slow
def test_no_request_fails_while_a_server_that_says_how_it_is_is_replaced(directory, tmp_path):
    with Manager(directory, tmp_path) as manager:
        manager.start()
        for word in ("READY=1", "WATCHDOG=1", "WATCHDOG=1"):
            manager.wait_for(word)
        clients = [Client(manager.address, keeps_connection=number % 2 == 0) for number in range(8)]
        for client in clients:
            client.start()
        for _ in range(RESTARTS):
            before = [client.answered for client in clients]
            while min(now.answered - then for now, then in zip(clients, before, strict=True)) < ROUNDS // RESTARTS:
                assert manager.process.poll() is None
                clients[0].join(0.01)
            code, out, err = manager.end()
            manager.wait_for("STOPPING=1")
            manager.start()
            assert (code, err) == (0, "")
            assert out == f"The arena is at http://127.0.0.1:{manager.address[1]}/ (Ctrl-C ends it)\n"
        manager.wait_for("READY=1")
        for client in clients:
            client.must_end.set()
        for client in clients:
            client.join(60)
        assert [client.failures for client in clients] == [[]] * len(clients)
        assert min(client.answered for client in clients) >= ROUNDS


def test_what_is_wrong_with_a_socket_unit_is_said(tmp_path, capsys, monkeypatch):
    serve = ["--home", str(tmp_path), "serve"]
    monkeypatch.setenv("LISTEN_PID", str(os.getpid() + 1))
    monkeypatch.setenv("LISTEN_FDS", "1")
    assert take_inherited_socket() is None  # it is for another process
    assert "LISTEN_FDS" not in os.environ
    monkeypatch.setenv("LISTEN_PID", str(os.getpid()))
    monkeypatch.setenv("LISTEN_FDS", "2")
    assert run(serve) == 2
    sentence = "LISTEN_FDS = '2': expected 1 socket; name one address in the socket unit"
    assert capsys.readouterr().err == f"arena: {sentence}\n"
    with socket.create_server(("0.0.0.0", 0)) as listening:
        monkeypatch.setattr("arena.cli.site.serve_command.take_inherited_socket", lambda: listening)
        assert run([*serve, "--port", "8000"]) == 2
        sentence = "--port: the socket unit says where the site listens; leave it out here"
        assert capsys.readouterr().err == f"arena: {sentence}\n"
        assert run(serve) == 2
        assert "add --public" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("microseconds", "process", "seconds"),
    [
        ("30000000", None, 30.0), ("1500", "own", 0.0015), ("30000000", "1", None),
        *((invalid, None, None) for invalid in ("0", "", "-5", "x", "9" * 30)),
    ],
)  # fmt: skip
def test_how_often_the_watchdog_wants_to_hear(monkeypatch, microseconds, process, seconds):
    monkeypatch.setenv("WATCHDOG_USEC", microseconds)
    monkeypatch.delenv("WATCHDOG_PID", raising=False)
    if process is not None:
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()) if process == "own" else process)
    assert watchdog_seconds() == seconds


def test_a_service_manager_that_is_not_there_or_does_not_listen_keeps_nobody_waiting(tmp_path, monkeypatch):
    for address in ("", "relative", "/nobody/listens/here", "@nobody"):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(tmp_path / "notify"))
        for _ in range(10_000):  # more than wait in its queue
            notify("WATCHDOG=1")
