"""Analysis of the games themselves, beside that of their matches."""
