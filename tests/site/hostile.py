"""A home that was made to do harm: hostile text in every place that a bot, or whoever made the home, can write."""

from dataclasses import replace

from arena.base.definition import GameChoice
from arena.base.enums import CorrectionKind, FaultKind
from arena.base.records import Bot, Fault, SeatReport
from arena.store.results.correction_log import Change
from arena.store.results.schema import seasons
from arena.store.results.values import CorrectionDetails
from tests.store.results.samples import definition, line, record

TEXTS = (
    "<script>alert(1)</script>", "</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='", "<svg/onload=alert(1)>", "<style>@import '//x.invalid/';</style>",
    "</textarea></title></style><iframe srcdoc='<script>alert(1)</script>'>",
    "<base href=//x.invalid/><meta http-equiv=refresh content='0;url=//x.invalid/'>", "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>", "<!--<script>", "--!> <![CDATA[ ]]> <?xml version='1.0'?>",
    "&#x3c;script&#x3e; &lt;b&gt; &amp;amp; &notanentity;", "{{ 7 * 7 }} {% raw %} ${7*7} #{7} <%= 7 %>",
    "\x1b[2J\x1b]0;title\x07\x1b[31m\x9b31m\x08\x7f",
    "\u202eright\u202c \u2066to\u2069 \u200fleft\u200b \ufeff \u2028 \u2029 \x85", "=cmd|' /C calc'!A0", "+1+1",
    "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1\n=2+2", ";=1", "\0NUL\0", "../../../etc/passwd", "..", ".", "a/b",
    "//x.invalid/", "\\\\x.invalid\\", "%2e%2e%2f %00 %25 %zz ?a=b&c=d#e", "name.json", "name.csv", "feed.atom",
    "index", "versus", "Z\u0351\u036b" * 30, "\U0001f469\u200d\U0001f469\u200d\U0001f467\U0010ffff\ufffe\ufdd0", " ",
    "", "w" * 5_000, "W\u00df \u0130 \u1e9e", "constructor", "__proto__",
)  # fmt: skip
"""What browsers, terminals, spreadsheets, readers of feeds and paths could take for something else than text."""

RULES = "tests.site.hostile_rules:Hostile"
PLAIN = "plain@1"


def fill(home, texts=TEXTS):
    for one in texts:
        _tell(home, one, one, [one])
    _tell(home, "all", " ".join(texts)[:20_000], texts)
    rows = [{"name": one.name, "tournament_id": one.number} for one in home.store.tournaments()]
    home.store._database.write(lambda connection: connection.execute(seasons.insert(), rows))


def _tell(home, name, content, names):
    """Store a tournament in which bots of these names, in turn, play against a plain one, and all say the same."""
    labels = [stored(f"{one}@{one}") for one in names]
    entrants = tuple(_bot(stored(one), stored(one), stored(content)) for one in names)
    games = ("differences", RULES, stored(name) or "none")
    rows, lines = [], []
    for number, seat in enumerate([seat for seat in range(len(names)) for _ in games for _ in "12"]):
        seats = (seat, len(names))[:: -1 if number % 2 else 1]
        bots = [[*labels, PLAIN][one] for one in seats]
        rows.append(_record(number + 1, stored(name), games[number // 2 % 3], bots, content))
        lines.append(replace(line(number + 1), game=number // 2 % 3, seats=seats, opening_actions=(), rng_seed=1))
    made = definition(
        name=stored(name),
        entrants=(*entrants, _bot("plain", "1", "")),
        games=tuple(GameChoice(game=game, options=_options(game), players=2) for game in games),
    )
    tournament = home.store.create_tournament(made, lines)
    home.store.record(tournament, rows[:-1])
    details = CorrectionDetails(matches=(1,))
    void = Change(kind=CorrectionKind.VOID, reason=stored(content), details=details, set_aside=[1])
    home.store.corrections.add(tournament, void)


def _options(game):
    return {"size": 5} if game == "differences" else {} if game == RULES else {game: game}


def stored(text):
    return text.encode("utf-8", "backslashreplace").decode()


def _bot(name, version, author):
    return Bot(name=name, version=version, command=("x", author), directory=author, author=author)


def _record(match, tournament, game, bots, content):
    content = stored(content)
    actions = [[0, 1], [1, 1]] if game == RULES else [[0, content], [1, [content, {content: content}]]]
    row = record(
        match, tournament=tournament, game=game, options=_options(game), bots=bots, encounter=(match + 1) // 2,
        actions=actions, ranks=[1, 2], scores=[1, 0], termination="forfeit",
        faults=[Fault(seat=1, kind=FaultKind.PROTOCOL, ply=2, detail=content)],
        seats=[SeatReport(exit=content, stderr=content)] * 2, notes=[[0, content], [1, {content: [content]}]],
        isolation=content, versions={content: content}, started_at=content,
    )  # fmt: skip
    return row._replace(record=row.record.replace("\\\\ud", "\\ud"))
