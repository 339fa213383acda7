from _hidden_work import OffTurn, start_children
from _wire import play

off_turn = OffTurn()
has_begun = False


def act(message):
    global has_begun
    off_turn.answer(message)
    if not has_begun:
        start_children(8)
        has_begun = True


play(act)
