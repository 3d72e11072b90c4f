"""Statistics of one source -> figures. Read `numbers`, then `style`, then any other module.

A module per analysis that is drawn; a function in it per figure, which takes the numbers of a
source and returns a matplotlib figure. The function, the output file and the label in the paper
carry one name, and the first line of its docstring is the caption.
"""

INDEX = "figures.json"  # beside the figures: what they show, and what is left out and why
# figure: the analysis it shows, whose module draws it; in the order of the papers
FIGURES = {
    "asymmetry_by_category": "calibration",
    "layer_curves": "cross_model",
    "template_comparison": "template",
    "depth_gain": "depth_gain",
    "lab_heritage": "lab_heritage",
    "spectral_scatter": "spectral_norms",
    "spectral_depth": "spectral_norms",
    "critical_layer": "critical_layer",
    "gain_by_depth": "depth_gain",
    "gain_distribution": "depth_gain",
    "weight_norms": "spectral_norms",
    "validation": "validation",
    "layers": "layers",
    "scaling": "scaling",
    "category_bootstrap": "category_bootstrap",
    "bins": "bins",
    "pairs": "pairs",
    "anisotropy": "anisotropy",
    "anisotropy_spectra": "anisotropy",
    "sensitivity": "sensitivity",
}
