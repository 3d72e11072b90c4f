"""The page of readers' models.

sections   the result documents as tables, declared: name, title, question, what builds the tables
cautions   what to know of them: warnings that the data call for
figures    what the pipeline's figures read of a reader's models
answers    the answers as rows: word, number, drawing, what random weights gave
statements the view by statement, and the table by pair
page       everything a page says (`Own`), and its files: HTML, CSV
of_one     the page of one model; `across`: of several, the papers' families beside them
"""

HTML = "index.html.j2"
STYLES = ("page/page.css", "own_model/own.css")
SCRIPTS = ("page/files.js", "own_model/own.js")
HELD = (".csv", ".json", ".svg")  # files that the page can hold
