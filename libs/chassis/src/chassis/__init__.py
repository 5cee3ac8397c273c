"""How any service stands up: database, outbox, broker, seal, telemetry, health, migrations, runner."""
