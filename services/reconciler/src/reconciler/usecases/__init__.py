"""What the reconciler does, one step per module."""
