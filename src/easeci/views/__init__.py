"""What people read of a project: status, history, commits, alarms and the report."""
