"""Statistics: values -> estimates. Pure functions."""
