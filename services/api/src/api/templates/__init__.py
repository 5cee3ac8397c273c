"""Templates: their versions and how a text is made of one."""
