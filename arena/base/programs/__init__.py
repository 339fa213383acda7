"""Programs of services: the service manager, lines of a log, addresses of this machine, health problems."""
