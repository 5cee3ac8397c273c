"""What status-ingest knows and decides, without touching anything."""
