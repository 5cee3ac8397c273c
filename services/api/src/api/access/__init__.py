"""Who is calling: API keys, their project, environment and number."""
