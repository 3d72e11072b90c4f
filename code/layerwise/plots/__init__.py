"""One module per figure: `draw(documents, source=...)` takes result documents, returns a Figure.

The module, the figure, the output file and the label in the paper carry the same name.
"""
