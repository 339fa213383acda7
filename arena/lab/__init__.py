"""The games themselves, analysed: what a state is worth with best play, and how that is known."""
