from _hidden_work import OffTurn, start_short_lived_children
from _wire import play

start_short_lived_children(4)
play(OffTurn().answer)
