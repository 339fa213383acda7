"""What authors submit to an arena that is open to them: kept, and checked by a process of its own."""
