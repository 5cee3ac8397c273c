"""Recipients: what people paste as a phone number, normalised or refused."""
