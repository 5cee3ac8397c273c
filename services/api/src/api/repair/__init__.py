"""Repair: what operators see and do about dead letters, and the books that the api and the ledger keep apart."""
