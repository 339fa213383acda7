"""May this bot play here? What ``arena check`` and ``arena submit`` find out."""
