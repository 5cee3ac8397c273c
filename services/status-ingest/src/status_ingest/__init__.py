"""The edge the gateway posts its webhooks to."""
