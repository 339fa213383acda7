from dataclasses import replace

from arena.base.definition import Definition, GameChoice
from arena.base.errors import StoreError
from arena.base.records import Bot, Fault, SeatReport
from arena.base.seeds import pick_below
from arena.games import make_game
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.match.replay import final_ranks
from arena.store.results.rows import row_of
from arena.tournament.rounds import TournamentRounds
from arena.tournament.schedule import schedule, spec_of

GAME = GameChoice(game="multiplication", options=dict(make_game("multiplication", size=7).options), players=2)


def bot(name, **fields):
    return Bot(
        name=name, version="1", command=("python", "main.py"), directory=f"/bots/{name}", digest=name * 4, **fields
    )


def refusal_of(call, *arguments):
    try:
        text = call(*arguments).refusal
    except StoreError as error:
        text = str(error)
    assert text is None or ("\n" not in text and len(text) < 600)
    return text


def definition_of(name="cup", entrants="abcd", **fields):
    return Definition(name=name, games=(GAME,), entrants=tuple(map(bot, entrants)), **fields)


def played(definition, line, by="here"):
    spec = spec_of(line, definition)

    def choose(request):
        return request.legal[pick_below(len(request.legal), by, line.match, request.ply)]

    record = Referee(spec, [ScriptedPlayer(choose) for _ in spec.bots]).play()
    seconds = {"wall_seconds": (0.25,) * len(record.actions), "cpu_seconds": (None,) * len(record.actions)}
    seats, began = (SeatReport(),) * len(spec.bots), "2026-01-31T12:00:00+00:00"
    return replace(record, **seconds, seats=seats, isolation="none", versions={}, started_at=began)


def forfeited(record, seat):
    game = make_game(record.game, **record.options)
    fault = Fault(seat=seat, kind="exit", ply=len(record.actions), detail="it has exited")
    state = game.initial_state()
    for _, action in record.actions:
        state = game.apply(state, action)
    return replace(record, faults=(fault,), termination="forfeit", ranks=tuple(final_ranks(game, state, [seat])))


def begin(store, definition):
    return store.find_tournament(definition.name) or store.create_tournament(definition, schedule(definition))


def play(store, definition, chosen=lambda match: True, by="here"):
    tournament = begin(store, definition)
    lines = [line for line in store.unplayed(tournament) if chosen(line.match)]
    store.record(tournament, [row_of(played(definition, line, by)) for line in lines])


def play_rounds(store, definition, rounds, by="here"):
    play(store, definition, by=by)
    tournament = begin(store, definition)
    coming = TournamentRounds(definition, store, tournament)
    for _ in range(rounds - store.last_round(tournament)):
        lines = coming.next_round()
        if not lines:
            return
        store.extend_schedule(tournament, lines)
        play(store, definition, by=by)


def exported(store, name):
    return [text for _, text in store.record_texts(store.tournament(name))]
