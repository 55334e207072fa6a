"""The command line: turns arguments into calls of the engine and results into output and exit codes."""
