"""Plans made from the texts of a form."""
