"""One function per user action: read, decide purely, append, then effects.

This is what the command line offers, as a library. Import each name from the module that defines
it: a command loads only what it needs.
"""
