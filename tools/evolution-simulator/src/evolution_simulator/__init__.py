"""A faithful, scriptable stand-in for Evolution API 2.3.7."""
