"""What the dispatcher decides, as values and pure functions: time and chance come in as arguments."""
