"""The pages: what people see of a project in a browser."""
