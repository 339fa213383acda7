"""What each page shows, as a value; its JSON is a contract with programs."""
