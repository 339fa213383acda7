"""Operating the site: its parts, and the machine they run on."""
