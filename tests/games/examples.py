"""The games of docs/examples on small boards, with each option that changes play; pytest has them on its path."""

EXAMPLES = {
    "domineering": ("domineering:Domineering", {"width": 4, "height": 4}),
    "hex": ("hex:Hex", {"size": 4}),
    "hex without swap": ("hex:Hex", {"size": 4, "swap": "no"}),
    "reversi": ("reversi:Reversi", {"size": 6}),
    "reversi for three": ("reversi:Reversi", {"players": 3, "size": 6}),
    "reversi for four": ("reversi:Reversi", {"players": 4, "size": 6}),
    "dots and boxes": ("dots_and_boxes:DotsAndBoxes", {"columns": 3, "rows": 2}),
    "dots and boxes for three": ("dots_and_boxes:DotsAndBoxes", {"players": 3, "columns": 3, "rows": 3}),
}
