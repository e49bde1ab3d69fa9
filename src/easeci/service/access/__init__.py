"""Who may see what: tokens, roles and sessions."""
