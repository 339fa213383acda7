"""The ``observation`` in ``act``, as a type for each game. protocol.md describes the fields."""

from __future__ import annotations

from typing import TypedDict


class PlusminusObservation(TypedDict):
    """The signs of seat 0 and of seat 1, each as one string; the row of the mark in each column, 0 if empty."""

    predictions: list[str]
    heights: list[int]


class PlaidObservation(TypedDict):
    """The positions of the vertical and of the horizontal lines, both ascending."""

    vertical: list[int]
    horizontal: list[int]


class CoprimalityObservation(TypedDict):
    """The squares ``[x, y]`` of 1, 2, …; the turn's number; the seat to act; the seats out, in order; grids used up."""

    path: list[list[int]]
    turn: int
    seat: int
    eliminated: list[int]
    grids_used: int


class DifferencesObservation(TypedDict):
    """The row of the mark in each column from the left, 0 if empty."""

    heights: list[int]


class MultiplicationObservation(TypedDict):
    """The row of the mark in each column, 0 if empty; the squares of the numbered marks, number 1 first."""

    heights: list[int]
    numbered: list[list[int]]
