"""Programs beside another: the service manager, lines of a log, addresses of this machine, health problems."""
