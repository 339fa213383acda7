"""Values computed from the store: standings, statistics, verification."""
