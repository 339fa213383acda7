"""One match: the referee, the clocks, and going through a record again."""
