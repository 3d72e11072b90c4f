"""The questions of Paper 2: on curves over layers, and on r over the categories."""
