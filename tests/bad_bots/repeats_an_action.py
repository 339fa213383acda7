from _wire import answer, play, send

first = []


def again(message):
    first.append(message["legal"][0])
    send(answer(message, action=first[0]))


play(again)
