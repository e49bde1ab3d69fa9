"""The report: the history of a project as one HTML file."""
