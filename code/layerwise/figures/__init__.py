"""One module per figure: `draw(documents, source=...)` takes result documents, returns a Figure.

The module, the figure, the output file and the label in the paper carry the same name.
"""

# figure: the analysis it shows
FIGURES = {
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
