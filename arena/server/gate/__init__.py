"""What every operation of people shares: who asks, from where, with which body."""
