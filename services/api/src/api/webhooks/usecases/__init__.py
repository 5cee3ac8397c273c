"""What clients and operators do with webhook endpoints; the notifier carries it out."""
