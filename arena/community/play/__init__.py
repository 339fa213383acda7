"""The play host: what runs the rules and the bots of the matches that people play in the browser."""
