"""Papers 1 and 2: values of statement pairs in the places of the files they were published in."""
