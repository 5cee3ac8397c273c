"""Customer webhook endpoints: the api authenticates, the notifier owns and answers."""
