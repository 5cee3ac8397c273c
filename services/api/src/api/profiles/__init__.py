"""Profiles: the phone numbers that a tenant's TEST keys may send to."""
