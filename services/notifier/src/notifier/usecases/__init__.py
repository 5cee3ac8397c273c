"""What the notifier does, one verb a module; use cases own the transactions and decide nothing."""
