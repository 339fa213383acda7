"""Every game with each option that changes play, on boards small enough to play out quickly."""

VARIANTS = {
    "plusminus": ("plusminus", {"size": 4}),
    "plusminus, seat 1 starts the grid": ("plusminus", {"size": 4, "grid_first": 2}),
    "plaid": ("plaid", {"width": 6, "height": 6, "lines": 5}),
    "plaid, one line short": ("plaid", {"width": 6, "height": 6, "lines": 4}),
    "plaid, three players": ("plaid", {"players": 3, "width": 5, "height": 6, "lines": 4}),
    "plaid, long sheet": ("plaid", {"width": 1, "height": 8, "lines": 3}),
    "coprimality": ("coprimality", {"size": 4}),
    "coprimality, three players": ("coprimality", {"players": 3, "size": 4}),
    "coprimality, one grid": ("coprimality", {"players": 4, "size": 3, "max_grids": 1}),
    "differences": ("differences", {"size": 5}),
    "differences, once": ("differences", {"size": 5, "scoring": "once"}),
    "multiplication": ("multiplication", {"size": 7}),
    "multiplication, three players": ("multiplication", {"players": 3, "size": 10}),
    "multiplication, seat 1 starts the numbering": ("multiplication", {"size": 7, "second_starts": 1}),
}

PIES = {
    "plusminus, pie after the first mark": ("plusminus", {"size": 2, "pie": 3}),
    "plaid, pie": ("plaid", {"width": 6, "height": 6, "lines": 4, "pie": 1}),
    "coprimality, pie": ("coprimality", {"size": 3, "max_grids": 2, "pie": 3}),
    "differences, pie after the end": ("differences", {"size": 2, "pie": 3}),
    "multiplication, pie": ("multiplication", {"size": 7, "pie": 2}),
}
