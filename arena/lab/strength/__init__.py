"""How well bots play by the exact values of the positions they meet."""
