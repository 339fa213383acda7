"""Operating the site: its services, and the machine they run on."""
