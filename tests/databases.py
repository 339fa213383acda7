"""On which kinds of database a test of what is stored runs: on files, and on a server where it may differ."""

import contextlib
import sqlite3

import pytest

DATABASES = ["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)]
"""For the fixture ``place``. The queries are the same on both kinds, so most tests need one of them in every run; the
long runs (``soak``) have them all on both, and CI runs those of the long ones."""

on_both = pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)
"""For a test of what a server does in its own way, in every run: locks and the order of commits, many at once, signals,
what is rolled back or erased with its rows, types (kinds, bytes, long numbers, times), the order and the case of texts,
patterns, replacing a row. Besides, for a round trip through each part of a store."""


def change(path, statement, *values):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)
