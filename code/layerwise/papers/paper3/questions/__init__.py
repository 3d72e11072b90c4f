"""The questions of Paper 3: on gains; on profiles, matrices, traces and L*."""
