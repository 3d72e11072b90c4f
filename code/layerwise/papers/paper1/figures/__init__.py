"""The figures of Paper 1."""
