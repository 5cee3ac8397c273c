"""WhatsApp numbers: their configuration, and the connection state last heard."""
