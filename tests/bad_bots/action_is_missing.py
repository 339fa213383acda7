"""Answers without an action."""

from _wire import play, send

play(lambda message: send({"type": "action", "ply": message["ply"]}))
