"""What ``act`` carries under ``observation``, game by game, as types. protocol.md describes the fields."""

from __future__ import annotations

from typing import TypedDict


class PlusminusObservation(TypedDict):
    """The signs of seat 0 and of seat 1, each as one string; the row of the mark in each column, 0 where none is."""

    predictions: list[str]
    heights: list[int]


class PlaidObservation(TypedDict):
    """The places of the upright and of the level lines, both ascending."""

    vertical: list[int]
    horizontal: list[int]


class CoprimalityObservation(TypedDict):
    """The squares ``[x, y]`` of 1, 2, …; the turn's number; who acts; who is out, first one first; grids used up."""

    path: list[list[int]]
    turn: int
    seat: int
    eliminated: list[int]
    grids_used: int


class DifferencesObservation(TypedDict):
    """The row of the mark in each column from the left, 0 where none is."""

    heights: list[int]


class MultiplicationObservation(TypedDict):
    """The row of the mark in each column, 0 where none is; the squares of the numbered marks, number 1 first."""

    heights: list[int]
    numbered: list[list[int]]
