"""Rules that several papers share."""
