"""Projects as their tenant sees them."""
