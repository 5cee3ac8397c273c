"""The port to WhatsApp gateways and one folder per gateway, both directions."""
