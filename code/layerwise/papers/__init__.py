"""The three papers: what they claim, and the rules, experiments and figures that answer it.

fetching                the papers' repository: fetched, verified, transcribed
shared                  what several of them need: names of files and models, categories, readings
experiments             what is measured of a model, in the places of the published numbers
paper1, paper2, paper3  the rules, questions and figures of each
across                  all of them together: the tables of analyses, of questions, of figures

A paper imports no other paper; what two of them need stands in `shared`.
"""
