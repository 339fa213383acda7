"""What a bot may do to the machine: how it is confined, launched and ended."""
