"""The HTTP doors, one module per group of the gateway's API and one for the control of the simulator."""
