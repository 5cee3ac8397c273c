"""What a client does with its own WhatsApp numbers: create, pair, watch, change, delete and restore them."""
