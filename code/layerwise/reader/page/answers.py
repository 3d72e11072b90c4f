"""The answers of readers' models as the page and the tables show them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from layerwise.engine.answer_words import NO, NO_SPREAD, TOO_FEW, UNDECIDED, YES
from layerwise.engine.question import Answer, find_again, shared_answers
from layerwise.engine.seen import equal_p
from layerwise.engine.words import category_labels, in_words
from layerwise.papers.across.questions import QUESTIONS
from layerwise.papers.across.together import PAPERS
from layerwise.papers.shared.result_files import METRIC
from layerwise.papers.shared.rules import decisive_category, r_without_each_category
from layerwise.present.csv_text import Value
from layerwise.present.figures.picture import data_address
from layerwise.present.html import prose
from layerwise.present.range_picture import RangePicture, RangeRow, draw_range, range_svg
from layerwise.present.strip import FAILS, HOLDS, OPEN, SYMBOLS
from layerwise.present.strip_picture import svg_file
from layerwise.present.tables import Table, interval_decimals, significant
from layerwise.present.values import NOTHING, rounded, with_signs
from layerwise.reader.files import CONTROL, REPLICATES
from layerwise.reader.page.figures import display_name
from layerwise.statistics.estimates import Estimate

LISTED = 4  # models named beside a claim; more are folded
PLOT, ENDS = 200, 20  # pixels: the width of a claim's drawing, and what a file has beside it
MORE_STYLE = (
    ".beside{stroke:#888;stroke-width:1.4}.hit{fill:transparent}.random-draw{fill:none;stroke:#888}"
)
# The marks of the papers' page whose colours mean the same.
MARKS = {YES: HOLDS, NO: FAILS, UNDECIDED: OPEN, NO_SPREAD: OPEN, TOO_FEW: OPEN}


# How an open question is counted.
OPEN_PHRASES = {
    UNDECIDED: "{} undecided",
    NO_SPREAD: "{} without a spread",
    TOO_FEW: "{} with too few units",
}


def summarize(answers: Sequence[Answer]) -> str:
    """Return in one sentence how many answers agree with the papers, and how many are open."""
    if not answers:
        return ""
    counts = Counter(answer.word for answer in answers)
    decided = counts[YES] + counts[NO]
    is_open = [phrase.format(counts[word]) for word, phrase in OPEN_PHRASES.items() if counts[word]]
    text = f"This model decides none of the {len(answers)} questions that the papers' claims ask"
    if decided:
        text = f"Of {decided} decided question{'s' * (decided > 1)} this model answers "
        text += f"{counts[YES] or 'none'} as the papers claim and {counts[NO] or 'none'} against "
        text += "them"
    if is_open and decided:
        return f"{text}; {len(answers) - decided} stay open ({', '.join(is_open)})."
    return f"{text} ({', '.join(is_open)})." if is_open else f"{text}."


def describe_correlations(documents: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence on r over the categories, and one on r over the pairs by layer.

    There are none where there is no preference.

    Arguments:
        documents: the result documents, by analysis.
    """
    if "pairs" not in documents:
        return []
    validation, by_layer = documents["validation"], documents["pairs"]["results"]
    r = with_signs(f"{validation['_global_stats']['ua_output_correlation']:+.3f}")
    left_out = r_without_each_category(validation)
    text = f"At the last layer r of asymmetry and preference over the categories is {r}"
    if (deciding := decisive_category(validation)) is not None:
        label = category_labels(left_out)[deciding]
        without = with_signs(f"{left_out[deciding].r:+.3f}")
        text += f", which rests on one of them: without {label} it is {without}."
    elif left_out:
        text += ", and no single category decides it."
    else:
        text += f", over {documents['category_bootstrap']['n_categories']} of them."
    return [text, _describe_pairs({int(layer): row[METRIC] for layer, row in by_layer.items()})]


def _describe_pairs(by_layer: Mapping[int, Mapping[str, Any]]) -> str:
    """Return r over the pairs at the first and the last layer, and which of them is clear."""
    layers = sorted({min(by_layer), max(by_layer)})
    ends = [with_signs(f"{by_layer[at]['r']:+.2f} at layer {at}") for at in layers]
    clear = [at for at in layers if not by_layer[at]["includes_zero"]]
    if len(layers) == 1:
        which = f"the interval {'excludes' if clear else 'includes'} zero"
    elif len(clear) == 1:
        which = f"the interval at layer {clear[0]} alone excludes zero"
    else:
        which = f"{'both intervals exclude' if clear else 'neither interval excludes'} zero"
    return f"Over the pairs it is {' and '.join(ends)}; {which}."


def summarize_random_weights(beside: Mapping[str, Any]) -> str:
    """Return what random weights answer, in one sentence; nothing where none were drawn."""
    if not (document := beside.get(CONTROL)):
        return ""
    shared = shared_answers(document)
    draws = f"{document['n']} draws" if document["n"] != 1 else "one draw"
    return (
        f"Random weights of this architecture ({draws}) give the same answer to "
        f"{shared.decided[0]} of the {shared.decided[1]} questions that this model answers with "
        f"yes or no, and leave open {shared.undecided[0]} of its {shared.undecided[1]} undecided "
        "ones: an answer that they share is no evidence of training."
    )


def answers_by_question(models: Mapping[str, Sequence[Answer]]) -> list[dict[str, Any]]:
    """Return a row per question that some model was asked: each model's answer, or None."""
    by_name = {
        model: {answer.question.name: answer for answer in answers}
        for model, answers in models.items()
    }
    rows = []
    for question in QUESTIONS.values():
        answers = {model: of_model.get(question.name) for model, of_model in by_name.items()}
        if any(answers.values()):
            cells = [
                answer and {**describe(answer, {}), "model": model}
                for model, answer in answers.items()
            ]
            rows.append({"question": question, "answers": cells})
    return rows


def claims_by_model(models: Mapping[str, Sequence[Answer]]) -> Table:
    """Return the same as a table: outcome, value and interval."""

    def cell(answer: Mapping[str, Any] | None) -> str | None:
        if answer is None:
            return None
        text = f"{answer['is'].word}: {' '.join(answer['number'])}"
        return f"{text} ({where})" if (where := answer["where"]) else text

    rows: list[list[Value]] = [
        [f"{row['question'].says} ({row['question'].number})", *map(cell, row["answers"])]
        for row in answers_by_question(models)
    ]
    caption = "The papers' claims on each model: outcome, number and its 95% interval."
    headings = {"the papers' claim": None, **dict.fromkeys(models)}
    return Table("claims-by-model", caption, headings, rows)


def describe(answer: Answer, beside: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as the page shows it.

    Arguments:
        beside: the documents of replicates and of random weights.
    """
    name, words = answer.question.name, answer.words
    noise = find_again(beside.get(REPLICATES, {}), name)
    control = find_again(beside.get(CONTROL, {}), name)
    same = sum(word == answer.word for word in words.values())
    places = decimals(answer.estimate)
    in_order = sorted(answer.published.items(), key=lambda item: item[1])
    printed = [f"{display_name(model)} {spell_number(value, places)}" for model, value in in_order]
    drawn = () if control is None else control.drawn
    return {
        "is": answer,
        "printed": printed,
        "number": value_and_interval(answer.estimate),
        "units": units(answer),
        "where": in_words(answer.estimate.where),
        "mark": MARKS[answer.word],
        "symbol": SYMBOLS[MARKS[answer.word]],
        "same": describe_agreement(same, len(words)),
        "others": [
            (_choice_in_words(choice, estimate), words[choice], value_and_interval(estimate))
            for choice, estimate in answer.others.items()
        ],
        "strip": picture(answer, drawn),
        "noise": noise and (significant(noise.band or 0.0, 2), noise.same, noise.n),
        "random": control and describe_draws(answer.word, control.same, drawn, places),
    }


def describe_draws(word: str, same: int, drawn: Sequence[float], places: int | None) -> str:
    """Return what random weights gave: their numbers, and their answers where there are any."""
    ends = [spell_number(end, places) for end in (min(drawn), max(drawn))]
    numbers = ends[0] if len(drawn) == 1 else " to ".join(ends)
    text = f"random weights: {numbers}"
    if word in (NO_SPREAD, TOO_FEW):
        return text
    if len(drawn) == 1:
        return f"{text}, {'the same' if same else 'another'} answer"
    verb = "say" if word in (YES, NO) else "are"
    return f"{text}; {same} of {len(drawn)} draws {verb} {word} too"


def describe_agreement(same: int, n: int) -> str:
    """Return under how many of n other choices the answer is the same, in words."""
    if same == n:
        return "the same answer" if n == 1 else f"the same answer under all {n}"
    return "another answer" if n == 1 else f"another answer under {n - same} of {n}"


def _choice_in_words(choice: str, estimate: Estimate) -> str:
    """Return a choice, and where the estimate under it stands."""
    words = PAPERS.choice_in_words(choice)
    return f"{words} ({estimate.where})" if estimate.where else words


def units(answer: Answer) -> str:
    """Return over how many units the number is: `1 category`, `24 pairs`."""
    n, unit = answer.estimate.n, answer.question.unit
    return f"{n} {singular(unit) if n == 1 else unit}"


def singular(units: str) -> str:
    """Return the word for one of them: `category` for `categories`, `pair` for `pairs`."""
    return f"{units[:-3]}y" if units.endswith("ies") else units.removesuffix("s")


def decimals(estimate: Estimate) -> int | None:
    """Return the decimals that show two digits of the interval's width; None without interval."""
    return interval_decimals(estimate.low, estimate.high)


def spell_number(value: float, places: int | None) -> str:
    """Return a number with so many decimals, or with three digits that count."""
    return significant(value, 3) if places is None else rounded(float(value), places)


def value_and_interval(estimate: Estimate) -> tuple[str, str]:
    """Return the value, and [low, high]; where there is no interval its p, or nothing."""
    value = spell_number(estimate.value, decimals(estimate))
    if ends := interval_ends(estimate):
        return value, f"[{', '.join(ends)}]"
    return value, "" if estimate.p is None else f"p {equal_p(estimate.p)}"


def interval_ends(estimate: Estimate) -> list[str]:
    """Return low and high of the interval; nothing where there is none."""
    ends, places = (estimate.low, estimate.high), decimals(estimate)
    return [spell_number(end, places) for end in ends] if all(map(math.isfinite, ends)) else []


def picture(answer: Answer, drawn: Sequence[float] = ()) -> Markup:
    """Return the row of an answer as a part of a page, which has its style."""
    shown = row_of(answer, drawn)
    return Markup(range_svg(shown, plot=PLOT))


def picture_file(answer: Answer, drawn: Sequence[float] = ()) -> str:
    """Return the same as an SVG file with its own style, with room for the numbers at both ends."""
    shown = row_of(answer, drawn)
    elements = draw_range(shown, plot=PLOT, left=ENDS)
    about = f"{answer.question.says} {' '.join(value_and_interval(answer.estimate))}"
    return svg_file(elements, PLOT + 2 * ENDS, shown.height, about, MORE_STYLE)


def row_of(answer: Answer, drawn: Sequence[float] = ()) -> RangePicture:
    """Return the row of an answer: the estimate, its range, the papers' models beside it.

    Arguments:
        drawn: the same number in draws of random weights.
    """
    question, estimate = answer.question, answer.estimate
    has_interval = math.isfinite(estimate.low) or math.isfinite(estimate.high)
    row = RangeRow(
        label="",
        number="",
        word=answer.word,
        value=estimate.value,
        low=estimate.low if has_interval else None,
        high=estimate.high if has_interval else None,
        above=question.above,
        below=question.below,
    )
    places = decimals(estimate)
    beside = [
        (value, with_signs(f"{display_name(model)} {spell_number(value, places)}"))
        for model, value in answer.published.items()
    ]
    draws = [
        (value, with_signs(f"random weights {spell_number(value, places)}")) for value in drawn
    ]
    return RangePicture([row], beside=beside, drawn=draws)


def answers_as_html(answers: Sequence[Answer], beside: Mapping[str, Any]) -> str:
    """Return the rows of the page for a notebook: each with its drawing, as an image.

    Arguments:
        beside: the documents of replicates and of random weights.
    """
    rows = []
    for answer in answers:
        told = describe(answer, beside)
        control = find_again(beside.get(CONTROL, {}), answer.question.name)
        image = data_address(picture_file(answer, control.drawn if control else ()))
        cells = (
            prose(answer.question.says),
            Markup('<span style="white-space: nowrap"><b>{}</b> {}<br>n = {}</span>').format(
                prose(told["number"][0]), prose(told["number"][1]), told["units"]
            ),
            Markup('<img src="{}" alt="">').format(image),
            f"{told['symbol']} {answer.word}",
            told["same"] if told["others"] else NOTHING,
        )
        rows.append(Markup("<tr>{}</tr>").format(_cells("td", cells)))
    head = ("question", "this model", "", "answer", "under other choices")
    caption = escape(summarize(answers))
    return Markup("<table><caption>{}</caption><tr>{}</tr>{}</table>").format(
        caption, _cells("th", head), Markup("").join(rows)
    )


def _cells(tag: str, texts: Sequence[str]) -> Markup:
    """Return texts as the cells of a row, to the left as words are read."""
    cell = Markup(f'<{tag} style="text-align: left">{{}}</{tag}>')
    return Markup("").join(cell.format(text) for text in texts)


def answers_table(answers: Sequence[Answer]) -> Table:
    """Return a row per question: the answer, its number, and whether other choices agree."""
    rows: list[list[Value]] = []
    shown: list[list[str]] = []
    for answer in answers:
        estimate, question = answer.estimate, answer.question
        ends = [end if math.isfinite(end) else None for end in (estimate.low, estimate.high)]
        same = sum(word == answer.word for word in answer.words.values())
        counts = estimate.n, same, len(answer.words)
        rows.append([question.says, answer.word, estimate.value, *ends, *counts])
        value, _ = value_and_interval(estimate)
        numbers = value, *(interval_ends(estimate) or [NOTHING, NOTHING]), *map(str, counts)
        shown.append([question.says, answer.word, *numbers])
    columns = ("question", "answer", "value", "low", "high", "n", "same", "of")
    note = (
        "value, low, high: the number that the question is about and its 95% interval, over n "
        "units. same, of: other choices of method that give the same answer, of those computed."
    )
    return Table("answers", summarize(answers), dict.fromkeys(columns), rows, [note], shown)


def claims_table(answers: Sequence[Answer]) -> Table:
    """Return every claim as the papers asked it, under other choices, and on their models."""
    rows: list[list[Value]] = []
    for answer in answers:
        says = answer.question.says
        asked = [("as the papers did", answer.estimate, answer.word)]
        asked += [
            (PAPERS.choice_in_words(choice), estimate, answer.words[choice])
            for choice, estimate in answer.others.items()
        ]
        for how, estimate, outcome in asked:
            ends = [end if math.isfinite(end) else None for end in (estimate.low, estimate.high)]
            rows.append([says, how, estimate.value, *ends, estimate.n, outcome])
        for model, value in answer.published.items():
            rows.append([says, f"papers: {display_name(model)}", value, *[None] * 4])
    columns = ("claim", "how it was asked", "value", "low", "high", "n", "outcome")
    caption = "The papers' claims: the number a claim is about, its 95% interval, what follows."
    return Table("claims", caption, dict.fromkeys(columns), rows)
