"""Mutants of the C sources of kernels: one small mistake each."""

import random
import re
import shutil
from dataclasses import dataclass

from arena.errors import KernelError
from arena.lab.kernels.build import SOURCES
from tests.lab.self_tests import complaint

REPLACED = {
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "%",
    "%": "/",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "++": "--",
    "--": "++",
    "+=": "-=",
    "-=": "+=",
    "^=": "|=",
    "|=": "^=",
    "|": "&",
    ">>": "<<",
    "<<": ">>",
    "!": "",
    "~": "",
    "0": "1",
    "1": "2",
    "2": "1",
    "64": "63",
    "63": "31",
    "6": "5",
}
"""A token of C, and what is written in its place."""

TOKENS = re.compile(
    r"/\*.*?\*/|^#.*?$|^enum.*?;|^typedef.*?^}.*?;|->|\w+\.\w+|\w+|[-+*/%<>=!&|^]=|\+\+|--|&&|\|\||<<=?|>>=?|\S",
    re.MULTILINE | re.DOTALL,
)
"""Comments, preprocessor lines and declarations are whole tokens, so that nothing in them is replaced."""


@dataclass(frozen=True)
class Mutant:
    """One mistake in a file.

    Attributes:
        file: its name.
        at: where the token begins.
        token: what stands there.
    """

    file: str
    at: int
    token: str

    @property
    def line(self):
        """The line with the mistake between arrows, to recognise it by."""
        text = (SOURCES / self.file).read_text()
        begin, end = text.rfind("\n", 0, self.at) + 1, text.find("\n", self.at)
        after = self.at + len(self.token)
        return f"{text[begin : self.at]}»{REPLACED[self.token]}«{text[after:end]}".strip()

    def write(self, directory):
        """Copy all sources into a directory, with the mistake in one."""
        for path in SOURCES.glob("*.[ch]"):
            shutil.copy(path, directory)
        text = (SOURCES / self.file).read_text()
        text = text[: self.at] + REPLACED[self.token] + text[self.at + len(self.token) :]
        (directory / self.file).write_text(text)


def all_mutants(file):
    """Return every mutant of a file, in the order of the file."""
    text = (SOURCES / file).read_text()
    found = [Mutant(file, match.start(), match.group()) for match in TOKENS.finditer(text) if match.group() in REPLACED]
    return [mutant for mutant in found if not (mutant.token in "*-+" and _is_unary(text, mutant))]


def _is_unary(text, mutant):
    """Return whether the token is a sign or belongs to a pointer."""
    return not (text[mutant.at - 1] == " " == text[mutant.at + len(mutant.token)])


EQUAL = {
    r"return .*-»2«": "any number below 0 says that the match is over",
    r"size »\+« now->marks\.empty\) % 2": "a sum and a difference are both even or both odd",
    r"again\[GRID_WORDS\] = \{»1«": "no length is 0",
    r"list\[k \+ 1\] »<=« list": "no two are equal",
    r"words = rules->existing / ": "more words than needed are all 0",
    r"skipped »<=« width": "both are the same then",
    r"column »<=« columns; column\+\+\) diagonals": "one root more, which nobody adds",
    r"columns »>=« rules->players": "nothing is added then",
    r"columns »\+« rules->players\) %": "the same, modulo the number of players",
    r"double sum = »1«|sum »-=« totals|int seat = »1«; .* sum \+=|fmax\(1e-9": "a bound: no sheet rounds as badly",
    r"int action = 0; action »<=« squares": "the frame's corner is beside no square of the board",
    r"order\[»1«\] = 0": "memory is 0 at first, and nothing else is written there",
    r"players »<« MAX_PLAYERS && rules->size <= MAX_SIZE;": "a board of at most 100 columns is for 33 at most",
    r"order\[now->numbered - 1\] (»-« 1|\+ »2«)": "states are told apart as well by other numbers",
    r"int left = »1«; left <= players": "of one seat there is nothing to search",
    r"»>=« uncertainty\) packed": "no difference is that number itself",
    r"\*task = calloc\(»2«": "more memory than needed",
    r"mine, 0, 2 \* \(players »\+« 1|seat, 0, 2 \* \(players »\+« 1": "a bound that no points reach",
    r"int other = »1«; other < number && !period|other »<=« number && !period": "a period is seen later, or of none",
    r"int other = 0; other < number && »«period": "no period is seen: it is slower",
    r"int high = »1«; high <= rules->height": "no gap is 0",
    r"row = end->rows »\+« 1": "a tie that is not seen is one that the rules are asked about",
    r"number »<=« size \* size": "no square is a prime",
}
"""Lines of mutants that do the same, as patterns, and why."""


def seeded_mutants(file, count, seed=1):
    """Return a random choice of the mutants that differ in what they do."""
    candidates = [mutant for mutant in all_mutants(file) if not re.search("|".join(EQUAL), mutant.line)]
    return random.Random(f"{file} {seed}").sample(candidates, min(count, len(candidates)))


def complaint_of(mutant, game, directory):
    """Return what the self-test says of a mutant, else the self-test with sanitizers; None if neither does."""
    sources = directory / "sources"
    sources.mkdir()
    mutant.write(sources)
    try:
        return complaint(game, directory, sources) or complaint(game, directory, sources, with_sanitizers=True)
    except KernelError as error:  # it is no C
        return str(error)
