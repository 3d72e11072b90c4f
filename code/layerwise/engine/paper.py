"""A paper as one value: all that the engine and what people read know of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from layerwise.engine.derivation import Analysis
from layerwise.engine.question import Question
from layerwise.engine.seen import Matter, Sentences, Tell, say_nothing
from layerwise.errors import LayerwiseError


@dataclass(frozen=True)
class Paper:
    """The rules and questions of a paper, or of several together.

    Attributes:
        name: as texts call it.
        title: the heading of its page and report.
        about: what it claims, in a sentence or two of plain text.
        links: addresses, by the words of `about` that lead to them.
        rules: the tables of rules, by analysis.
        questions: the central claims as questions, by name.
        readings: the readings of these, in words.
        sentences: what is said of each central claim, by id.
        story: what its central claims tell together.
        findings: what else does not stand, by id.
        surprises: what a reader would least expect, the most surprising first.
        shifted: names of statistics, by analysis, that 16 bits move all to one side: replicates
            scatter about the run, and their band does not show it.
    """

    name: str
    title: str
    about: str
    rules: Mapping[str, Analysis]
    questions: Mapping[str, Question]
    readings: Mapping[str, str]
    sentences: Sentences
    story: Sequence[Matter] = ()
    findings: Sentences = field(default_factory=Sentences)
    surprises: Tell = say_nothing
    links: Mapping[str, str] = field(default_factory=dict)
    shifted: Mapping[str, Collection[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Require words for every reading of the questions.

        Raises:
            LayerwiseError: for a reading without, as a misspelt one is.
        """
        for question in self.questions.values():
            if wordless := [name for name in question.readings if name not in self.readings]:
                raise LayerwiseError(
                    f"{self.name}: `readings` must have words for every reading of its questions, "
                    f"found none for {wordless[0]!r} of {question.name}; give them, or correct "
                    "the name"
                )

    def reading_in_words(self, reading: str) -> str:
        """Return a reading in words, `category_out/lifestyle` as "without one category: lifestyle".

        Raises:
            LayerwiseError: for a reading that the paper does not list.
        """
        name, _, part = reading.partition("/")
        if name not in self.readings:
            raise LayerwiseError(
                f"claims.json or questions.json: a reading of a question must be one of the "
                f"{len(self.readings)} that {self.name} lists, found {name!r:.80}; analyse and "
                "judge again"
            )
        words = self.readings[name]
        return f"{words}: {part.replace('_', ' ')}" if part else words
