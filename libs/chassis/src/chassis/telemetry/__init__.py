"""What an operator sees of a service: logs without personal data, traces that follow the work, bounded metrics."""
