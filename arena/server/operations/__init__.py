"""The site for people who sign in: accounts, invitations, tokens, and who may do what."""
