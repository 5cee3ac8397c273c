"""What operators administer: tenants, projects, plans, packages, profiles, opt-ins, keys and numbers."""
