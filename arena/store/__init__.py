"""The store: tournaments, schedules, records and submitted bots in one database. The only place with SQL."""
