"""The doors of operators: who may come in, and their own routes."""
