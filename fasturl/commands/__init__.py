"""The commands of the command line, a file each. `register(app)` adds a command; heavy imports wait until it runs."""
