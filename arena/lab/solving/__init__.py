"""Tables, searches and proofs of the games' values."""
