"""The figures of Paper 2."""
