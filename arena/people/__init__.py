"""People of an arena that is open to others: who they are, what they may do, and what proves it."""
