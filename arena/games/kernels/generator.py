"""The random numbers of playouts: the same in C and in Python, so that playout s is the same sequence of actions."""

from __future__ import annotations

_GOLDEN = 0x9E3779B97F4A7C15
_BITS = (1 << 64) - 1


def _mixed(bits: int) -> int:
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & _BITS
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & _BITS
    return bits ^ (bits >> 31)


class Generator:
    """SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014); each playout of a seed has one of its own.

    Args:
        seed: a number of 64 bits.
        index: the number of the playout.
    """

    __slots__ = ("_at",)

    def __init__(self, seed: int, index: int) -> None:
        self._at = _mixed((_mixed((seed + _GOLDEN) & _BITS) + index) & _BITS)

    def next(self) -> int:
        """Return the next 64 bits."""
        self._at = (self._at + _GOLDEN) & _BITS
        return _mixed(self._at)

    def below(self, bound: int) -> int:
        """Return a number from 0 to ``bound`` - 1; for bounds below 2**31."""
        return (self.next() >> 32) * bound >> 32
