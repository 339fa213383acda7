"""The only SQL, for SQLite and PostgreSQL: tournaments and records."""
