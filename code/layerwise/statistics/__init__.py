"""Numbers -> estimates. Pure functions; SciPy's where a test is a textbook's.

bootstrap, joint_bootstrap, random_bins, clusters    resampling, by the papers' random streams
correlation, two_samples, ranks, lines, effect_size  tests and fits
phases, curves, profile, critical_layer, gains       what the papers read off curves
rules, calibration, survival, norm_ratios            their words and verdicts
"""
