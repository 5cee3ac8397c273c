"""What the reconciler knows and decides, without touching anything."""
