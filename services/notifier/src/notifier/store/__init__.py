"""The notifier's SQL: one function is one statement, and rows become frozen values at once."""
