"""The demonstration: a customer sends real messages and watches them travel to READ."""
