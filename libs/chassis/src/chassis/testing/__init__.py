"""What tests of services stand on: databases cloned from a migrated template, a virtual host, a wire that can fail."""
