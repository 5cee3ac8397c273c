"""The doors to webhook endpoints, and to what was delivered to them: the customers' own, and the operators'."""
