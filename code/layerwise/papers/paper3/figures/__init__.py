"""The figures of Paper 3."""
