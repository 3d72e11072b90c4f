"""The rules of Paper 1, a module per analysis."""
