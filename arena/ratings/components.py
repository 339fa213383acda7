"""Connected components of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def connected_components(size: int, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return for each of ``size`` nodes the smallest node that edges connect it with.

    Labels are passed along edges and followed to their own labels until nothing changes (Shiloach and Vishkin, "An
    O(log n) parallel connectivity algorithm", 1982).

    Args:
        size: the number of nodes.
        first: one end of each edge.
        second: the other end.
    """
    label = np.arange(size)
    while len(first):
        low = np.minimum(label[first], label[second])
        for end in (first, second):
            np.minimum.at(label, label[end], low)
        while not np.array_equal(label[label], label):
            label = label[label]
        is_open = label[first] != label[second]
        first, second = first[is_open], second[is_open]
    return label
