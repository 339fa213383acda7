"""Plays the first square of the board again and again."""

from _wire import answer, play, send

first = []


def again(message):
    first.append(message["legal"][0])
    send(answer(message, action=first[0]))


play(again)
