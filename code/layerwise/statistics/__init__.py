"""Numbers -> estimates. Pure functions; SciPy's where a test is a textbook's.

bootstrap, random_bins                           resampling, by the papers' random streams
correlation, samples, sizes                      tests and fits; how many points they take
phases, curves, critical_layer                   what the papers read off curves
estimates, noise                                 a number with interval and n; what rounding does
by_category, jackknife, extremes                 what comes in categories; without one; the extreme
power                                            the effects that a number of units can tell
"""
