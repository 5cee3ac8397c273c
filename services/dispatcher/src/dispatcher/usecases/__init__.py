"""What the dispatcher does, one verb phrase each: they own the transactions and decide nothing."""
