import re

import pytest

from arena.games import make_game
from arena.lab.measures.answers import Comparison
from arena.lab.measures.measure import Cluster, Measure, Row, Unit, exactly, share_of
from arena.lab.measures.report import QualityReport, survey_quality
from arena.lab.measures.survey import Plan
from arena.lab.solving.limits import Limits
from arena.site.publish.estimate_charts import plots_of
from arena.site.publish.one_file import quality_page
from tests.site.parsed import Parsed


def test_a_page_has_three_answers_and_eleven_measures_and_one_of_two_variations_their_differences():
    plan, values = Plan(encounters=20, doublings=1), ("distinct", "once")
    games = [make_game("differences", size=3, scoring=scoring) for scoring in values]
    reports = tuple(survey_quality(game, "differences", plan, Limits()) for game in games)
    page = quality_page(reports[0])
    assert re.findall(r"<dt>(.*?)</dt>", page) == ["Is it fair?", "At which size?", "Which variation?"]
    assert "With best play, yes: it is a draw (proved)." in page
    assert "Best play is a draw at sizes 2 and 3." in page
    assert re.findall(r'<h2 id="measure-(\d+)">', page) == [str(number) for number in range(1, 12)]
    assert page.count('<th class="who" scope="row">') == sum(len(measure.rows) for measure in reports[0].measures)
    assert "default-src 'none'" in page
    assert not re.findall(r"<(script|link|img|iframe|object|a href=\"(?!#))", page)
    assert not re.findall(r"url\((?!#)", page)
    page = quality_page(Comparison(option="scoring", values=values, reports=reports))
    assert "differences: scoring = distinct and scoring = once" in page
    assert "not known without votes (194 for 80 % power at 60:40)" in page
    assert page.count('<li class="seat1">') >= 2
    parsed = Parsed(page)
    assert parsed.open == parsed.mismatches == []


def rows_at(*places, name="points of seat 0"):
    return tuple(
        Row(name=name, at=at, unit=Unit.SHARE, estimate=share_of([Cluster(1.0)] * wins + [Cluster(0.0)] * (10 - wins)))
        for at, wins in places
    )


def test_a_plot_has_its_dots_where_the_numbers_are_unless_they_are_few_or_equal():
    measure = Measure(key="k", title="t", about="", rows=rows_at(("ply 1", 0), ("ply 2", 5), ("ply 3", 10)))
    (plot,) = plots_of([measure], [])
    drawing = str(plot.drawing())
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', drawing)]
    assert heights[0] > heights[1] > heights[2]
    assert heights[0] - heights[1] == pytest.approx(heights[1] - heights[2], abs=0.2)
    assert re.findall(r">(ply|1|2|3)</text>", drawing) == ["1", "2", "3", "ply"]
    assert plot.caption == "points of seat 0 (strokes are 95 % intervals, n 10)"
    few = Measure(key="k", title="t", about="", rows=rows_at(("ply 1", 0), ("ply 2", 5)))
    equal = Measure(key="k", title="t", about="", rows=rows_at(("a", 5), ("b", 5), ("c", 5)))
    assert plots_of([few], []) == plots_of([equal], []) == []


def test_what_comes_from_a_stranger_is_text_on_the_page():
    row = Row(name="margin of seat 0", at="<script>alert(1)</script>", unit=Unit.SCORE, estimate=exactly(1.0))
    measures = tuple(
        Measure(key=key, title="<b>", about="&", rows=(row,) * 3 + rows_at(("<i>", 1), ("</svg>", 5), ("c", 7)))
        for key in ("value", "first_seat", "draws_and_margins")
    )
    page = quality_page(QualityReport(game="<img src=x>", options={"a<b": "</style>"}, plan=Plan(), measures=measures))
    for hostile in ("<script", "<img", "<i>", "<b>", "a<b"):
        assert hostile not in page
    assert page.count("</style>") == 1
