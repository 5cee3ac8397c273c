"""What a tenant may send: plans, packages, and how much of them is used."""
