"""The command line: options in, a service function, text or JSON out."""
