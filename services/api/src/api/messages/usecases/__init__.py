"""What is done with messages: accept one, follow its progress, read it back."""
