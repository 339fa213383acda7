from _hidden_work import OffTurn, start_chains
from _wire import play

start_chains(4)
play(OffTurn().answer)
