"""A port that is held for a server."""

import socket

import pytest

from tests.held_port import HOST


def test_a_server_can_be_started_on_it_again_and_again(port):
    for _ in range(2):
        with socket.create_server((HOST, port)), socket.create_connection((HOST, port)):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, port))


def test_only_one_server_listens_on_it(port):
    with socket.create_server((HOST, port)), pytest.raises(OSError, match="already in use"):
        socket.create_server((HOST, port))


def test_nobody_gets_it_who_asks_for_any(port):
    with socket.socket() as other, pytest.raises(OSError, match="already in use"):
        other.bind((HOST, port))
