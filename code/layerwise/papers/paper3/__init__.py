"""Paper 3: residual gains, spectral norms, sheaf traces and the critical layer."""
