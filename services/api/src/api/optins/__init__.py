"""Opt-ins: who agreed to get transactional messages of a project from the platform's number."""
