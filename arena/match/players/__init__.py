"""A seat's player: a bot process, or a scripted double. The only place that starts and ends processes of bots."""
