import re

from hypothesis import given
from hypothesis import strategies as st

from arena.analysis.measures.values import RatingPoint
from arena.site.pages.charts import Point, RatingChart, bar, heat_step, history, interval


def rectangles(svg, kind):
    return [
        {name: float(value) for name, value in re.findall(r'(x|width)="([\d.]+)%?"', rectangle)}
        for rectangle in re.findall(rf'<rect class="{kind}"[^>]*>', svg)
    ]


def test_an_interval_and_a_bar_are_never_longer_than_their_chart():
    svg = interval(25.0, 5.0, 0.0, 50.0)  # 97 % of the width are for 50 points
    (mean,), (bar_of_it,) = rectangles(svg, "mean"), rectangles(svg, "range")
    assert mean["x"] == 50
    assert abs(bar_of_it["x"] - (1.5 + 0.97 * 40)) < 0.1
    assert abs(bar_of_it["width"] - 0.97 * 20) < 0.11
    svg = interval(3.0, None, 3.0, 3.0)
    assert not rectangles(svg, "range")
    assert rectangles(svg, "mean")[0]["x"] == 1.5, "a stroke alone"
    assert rectangles(bar(0.25), "mean") == [{"width": 25}]
    assert rectangles(bar(7.0), "mean") == [{"width": 100}]
    assert rectangles(bar(-1.0), "mean") == [{"width": 0}]
    assert [heat_step(share / 20) for share in (0, 1, 2, 10, 19, 20)] == ["h0", "h0", "h1", "h5", "h10", "h10"]


def test_a_history_says_where_it_begins_and_ends_and_eight_lines_are_told_apart():
    svg = history([Point(10, 25.0, 4.0), Point(40, 30.0, 2.0)], [[Point(10, 20.0), Point(40, 20.0)]])
    assert "Rating (mu): 25.0 after 10, 30.0 after 40 matches" in svg
    assert history([Point(1, 25.0)]) == "", "one point is no history"
    assert "<b>" not in history([Point(1, 25.0), Point(2, 25.0)], unit="<b>")
    assert svg.count("<polyline") == 2
    assert svg.count('class="band"') == 1
    assert ">40</text>" in svg
    chart = RatingChart([point(f"b{k}@1", "t", 20.0 + k) for k in range(10)])
    assert [line.bot for line in chart.lines] == [f"b{k}@1" for k in range(8)]
    assert len({line.drawing for line in chart.lines}) == 8
    assert chart.svg().count('class="dot"') == 8


def point(bot, tournament, mu, margin=1.0, at="2026-01-01"):
    values = {"game": "g", "rank": 1, "bots": 2, "exposure": mu - 3, "matches": 2, "score_percent": 50.0}
    return RatingPoint(bot=bot, tournament=tournament, at=at, mu=mu, margin_95=margin, **values)


TWO = [
    point("a@1", "second", 24.0, at="2026-02-01"),
    point("a@1", "first", 20.0),
    point("b@1", "second", 22.0, None, at="2026-02-01"),
]


def test_ticks_are_round_and_points_are_where_their_ratings_are():
    """From 19 to 25 in steps of 2: 18 to 26."""
    assert RatingChart(TWO).ticks == ["26", "24", "22", "20", "18"]
    # Of 18 to 26, 20 is three quarters down, 24 one quarter, 22 in the middle; tournaments by time, from 2 to 98.
    svg = RatingChart(TWO).svg()
    assert re.findall(r'class="dot" d="M([\d. ]+)h0"', svg) == ["2.00 75.00", "98.00 25.00", "98.00 50.00"]
    assert 'points="2.00 62.50 98.00 12.50 98.00 37.50 2.00 87.50"' in svg
    assert 'd="M2.00 75.00L98.00 25.00"' in svg
    assert svg.count('class="line"') == svg.count('class="band"') == 1
    assert svg.count('class="span"') == 2
    assert 'aria-label="Ratings: a@1 24.0 ± 1.0, rank 1 of 2, after second (2026-02-01); b@1 22.0, rank 1' in svg


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.floats(-1e4, 1e4), st.none() | st.floats(0, 1e3)),
        min_size=1,
        max_size=9,
        unique_by=lambda one: one[:2],
    )
)
def test_everything_is_inside(points):
    chart = RatingChart([point(*one) for one in points])
    assert 2 <= len(chart.ticks) <= 7
    for x, y in re.findall(
        r"(-?[\d.]+) (-?[\d.]+)(?=[L\"h ])", "".join(re.findall(r' (?:d|points)="[^"]*"', chart.svg()))
    ):
        assert -0.1 <= float(x) <= 100.1
        assert -0.1 <= float(y) <= 100.1
