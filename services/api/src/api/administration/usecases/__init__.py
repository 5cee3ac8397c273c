"""What operators do, one resource a module; changes take part in the transaction that logs them."""
