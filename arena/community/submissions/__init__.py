"""What authors hand in to an arena that is open to them: kept, and checked by a process of its own."""
