"""Drafts of messages: filled in from a template or given at once, checked, and turned into what is sealed."""
