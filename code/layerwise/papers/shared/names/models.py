"""Models that the files call by more than one name, and the entry of one that has no name there."""

SLUG = "pythia-6p9b"  # the model of Paper 2's notebooks on layers
OWN = "Pythia-6.9B"  # the same in the file over the sizes
READER = "reader"  # the entry of a model that has no published place

# The models whose curves over layers Paper 2 prints, as it writes them.
NAMES = {
    SLUG: OWN,
    "llama-3p1-8b": "Llama-3.1-8B",
    "apertus-8b": "Apertus-8B",
    "gemma-2b": "Gemma-2B",
}
# Where `beyond/choices` has a model that a file of Paper 1 or 2 calls otherwise.
EXTRACTIONS = {
    "llama": "llama-3p1-8b",
    "gemma": "gemma-2-9b",
    "mistral": "mistral-7b",
    "apertus": "apertus-8b",
    "llama-3p1-8b-instruct-template": "llama-3p1-8b-instruct-templated",
}
