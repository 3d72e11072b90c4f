"""The verbs: each reads files, calls one noun, and writes files. Nouns never import stages."""
