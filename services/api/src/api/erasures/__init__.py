"""Erasures: a recipient who must be forgotten, from the request until nothing is left anywhere."""
