"""The check of a bot, as arena check and arena submit make it."""
