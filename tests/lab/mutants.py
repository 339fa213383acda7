import random
import re
import shutil
from dataclasses import dataclass
from functools import partial

from arena.base.errors import KernelError
from arena.games.kernels.build import SOURCES
from tests.lab.self_tests import complaint

ASKS_OFTEN = "-DNEAR_TIE=2.0"
"""Makes the kernel of plaid ask the rules about all scores less than two points apart."""

CPU_SECONDS = 10
"""Some never end; what ends takes 5 at most, with sanitizers and the compiler."""

REPLACED = {
    "+": "-", "-": "+", "*": "+", "/": "%", "%": "/", "++": "--", "--": "++", "+=": "-=", "-=": "+=",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "^=": "|=", "|=": "^=", "|": "&", ">>": "<<", "<<": ">>", "!": "", "~": "",
    "0": "1", "1": "2", "2": "1", "6": "5", "63": "31", "64": "63", "LARGER": "SMALLER", "SMALLER": "LARGER",
}  # fmt: skip
"""A token of C, and what is written in its place."""

TOKENS = re.compile(
    r"/\*.*?\*/|^#.*?$|^enum.*?;|^typedef.*?^}.*?;|->|\w+\.\w+|\w+|[-+*/%<>=!&|^]=|\+\+|--|&&|\|\||<<=?|>>=?|\S",
    re.MULTILINE | re.DOTALL,
)
"""Comments, preprocessor lines and declarations are whole tokens, so that nothing in them is replaced."""


@dataclass(frozen=True)
class Mutant:
    file: str
    at: int
    token: str

    @property
    def line(self):
        text = (SOURCES / self.file).read_text()
        begin, end = text.rfind("\n", 0, self.at) + 1, text.find("\n", self.at)
        after = self.at + len(self.token)
        return f"{text[begin : self.at]}»{REPLACED[self.token]}«{text[after:end]}".strip()

    def write(self, directory):
        for path in SOURCES.glob("*.[ch]"):
            shutil.copy(path, directory)
        text = (SOURCES / self.file).read_text()
        text = text[: self.at] + REPLACED[self.token] + text[self.at + len(self.token) :]
        (directory / self.file).write_text(text)


def all_mutants(file):
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
    r"wish = seat == 0 \? (»2« : -1|1 : -»2«)": "a win does not end the search: it is slower",
    r"outcome \* wish »>=« best": "an equal outcome in place of an equal one",
    r"int after = outcome_of_grids\(task": "any number of grids is worth the same",
    r"(set|levels|heights|places)\[MAX_LINES »-« 1\]|\[MAX_(LINES|SOLVED) \+ »2«": "room for more than anybody solves",
    r"sets »>« MOST_SETS|»>« MOST_SETS|»<=« MOST_SETS": "no number of sets is that number itself",
    r"task->reached »<=« pairs": "one threshold more, which all pairs reach: it is slower",
    r"heights\[(k \+ 1|j)\] »<=« heights": "no two are equal",
    r"at_most\)\[BITS / »63«": "both are 4",
    r"\*margin »<=« task->threshold": "the same margin once more",
    r"best\[0\] »&&« best\[1\]": "the grid upside down: both first signs are worth the same",
    r"bit / »63«": "the same word, for every place where a list begins",
    r"turn »<=« 4": "a turn by nothing",
    r"task && table »\|\|« margins": "there is memory",
    r"most »<=« task->steps \?": "both are the same then",
    r"\(seat == 0\) »!=« sideways": "each of the two turns in place of the other",
    r"k »<=« all->size; k\+\+\) order": "a byte too many, on a board that takes 30 GB",
    r"line »<=« rules->existing": "beyond the last line, none is drawn or undrawn",
    r"k »<=« members; k\+\+\) set\[k\] = k": "one place more, which nobody reads",
    r"total »-=« of_row|margin = 0, total = »1«": "a bound: no sheet rounds as badly",
    r"OUTCOME = \(int64_t\)(1 »>>«|»2« <<)|»>=« OUTCOME / 2|OUTCOME (/ »1«|»%« 2)": "nobody wins by less than a part",
    r"found »<=« best\) \?|found »>=« best :": "both are the same then",
    r"total »\+« end\.rows": "the rules are asked more often",
    r"column »<=« size; column\+\+\) rows|to »<=« size; to": "beyond the board, in an array for a larger one",
    r"last = 1; last »<=« size; last\+\+\)$": "no mark has that number",
    r"everything \+ »2«\)": "more memory than needed",
    r"aligned_alloc\(»63«": "no such room: the memory is not aligned as it must be, or is not there",
    r"to »<=« rest->left; to|k »<=« rest->left; k|from »<=« size; from": "beyond the marks, in an array for more",
    r"sizeof\(state\) »-« sizeof\(undo\)": "how much memory it says that it takes",
    r"is_small && rules->players == »1«|rules->(width|height) »<« MAX_SMALL": "the generic playouts are slower",
    r"bit = \(ZEROS \+ »2«\) << distance": "each length has another bit, but still one of its own",
    r"cell\] - 2\) < TAKEN - »1«": "the squares looked at have a number beside them",
    r"rank\(totals, rules->players, »1«, ranks\)": "what it returns is not used",
    r"differ == »1«|column »<=« all->columns; column|all\.rows\) »\+« 0x1p-52": "the rules are asked more often",
    r"MAX_SMALL \* MAX_SMALL \+ »2«": "more room than there are sums",
    r"is_more = »2«": "any number but 0 says yes",
    r"»>=« fmax\(NEAR_TIE": "no margin is that number itself",
    r"end\.columns »\+« 0x1p-52|end\.rows »\+« end\.columns \* 0x1p-52": "the rules are asked more often",
    r"plan->work_bytes = ": "how much memory it says that it takes",
    r"place »<=« members && set\[place\]": "reads what was not written, which is no line",
    r"members »<=« all->most \? levels": "nothing is read there",
    r"members == all->most \? »1«": "no line of play leads to such a set",
    r"most\[2\] = \{(0, »1«|»1«, 0)\}": "each level has a value",
    r"return levels\[»1«\] && levels\[1\]|return levels\[0\] »\|\|« levels\[1\]": "there is memory",
    r"return »2«;": "any number but 0 says yes",
    r"back »\^=« \(list|signs »\^=« \(heights": "no two signs go to one place",
    r"task->reached < pairs »\|\|« task->threshold": "more thresholds, which all pairs reach: it is slower",
    r"int64_t most = »1«|states_of_level\(size, marks\) : »1«": "each level has a state",
    r"int marks = 0; marks »<=« size; marks\+\+\) \{$": "how much memory it says that it takes",
    r"list\[j\] »<« list\[k\]": "no two are equal",
    r"int k = »1«; k <= size; k\+\+\) all->choose": "the empty set has the number 0, times anything",
    r"total .* marks < KEPT_LEVELS|marks < KEPT_LEVELS .* orders": "how much memory it says that it takes",
    r"int marks = »1«; marks <= size; marks\+\+\) \{$": "the first level is never the largest",
    r"low »<=« high": "one element changes places with itself",
    r"count »>=« most": "both are the same then",
    r"now->signs % 2\] »\^=« sign": "the sign is not there yet",
    r"task->threshold »>=« 1 - task->steps": "one threshold more, which all pairs reach",
    r"n < count && best »<=« enough": "one action more, of a line that nobody chooses",
    r"&before, found, »1«": "it may fail where another thread has not been first, which it does not here",
    r"orders \*= marks|orders = »2«, total|int marks = »1«; marks < size": "how much memory it says that it takes",
    r"int marks = 0; marks »<« size; marks\+\+\) \{$": "the last level is never the largest",
    r"column »<=« root->size": "beyond the board, nothing is marked",
    r"all->once|seen\[MAX_SOLVED|marks ».*« KEPT_LEVELS": "of boards with ten columns, too large for a self-test",
    r"k »<« size; k\+\+\) all->(factorial|choose)": "the full level has one block, whose number is 0",
    r"margin = 0, is_reached = »1«": "it is written before it is read",
    r"task->threshold = »1«": "zero is tried once more",
    r"found->stop\) return »1«": "an outcome that is thrown away",
    r"numbered = everything - 1; numbered »>=« 0": "no mark is the last one of none",
    r"last = 0; last »<=« rest\.left": "no mark has that number",
    r"int set = »1«; set < 1 << size": "the empty set is the only one of no members, and has the number 0",
    r"(states\+\+|number) & 0xFFFF\) (»!=«|== »1«)": "it looks at other states whether to stop",
    r"total = »1«;": "a byte more memory than is taken",
}
"""Lines of mutants that do the same, as patterns, and why."""


def seeded_mutants(file, count, seed=1):
    """Return a random choice of the mutants that differ in what they do."""
    candidates = [mutant for mutant in all_mutants(file) if not re.search("|".join(EQUAL), mutant.line)]
    return random.Random(f"{file} {seed}").sample(candidates, min(count, len(candidates)))


def complaint_of(mutant, game, directory):
    """Return what the self-test says of a mutant, also with sanitizers or asking about near ties; None if it passes."""
    sources = directory / "sources"
    sources.mkdir()
    mutant.write(sources)
    try:
        tested = partial(complaint, game, directory, sources, cpu_seconds=CPU_SECONDS)
        found = tested() or tested(with_sanitizers=True)
        if found is None and game == "plaid":
            found = tested(more_flags=(ASKS_OFTEN,))
        return found
    except KernelError as error:  # it is no C
        return str(error)
