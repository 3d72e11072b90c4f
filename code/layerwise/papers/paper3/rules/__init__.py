"""The rules of Paper 3, a module per analysis."""
