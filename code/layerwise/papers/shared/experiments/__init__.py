"""Papers 1 and 2: values of statement pairs in the places of the files they were published in.

documents  one model's values as whole documents: the lowest level, every interval drawn once
choices    the same under the choices that the papers did not make
fill       an extraction of the papers' models: those parts of the documents that its files have
reader     a reader's model: all of them, in files of its own that fill the papers' roles
"""
