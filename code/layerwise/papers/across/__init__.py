"""The three papers together.

analyses           the tables of all rules, and the documents of a reader's model
questions, answers all questions; the answers of readers' models, the papers' models beside them
curves             curves over relative depth of the documents of one model
rules              rules that are about several papers: power, curves over depth
figures            the table of all figures, those of questions and of readers' models
"""
