"""The rules of Paper 2, a module per analysis."""
