"""A paper as one value: all that the engine and what people read know of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from layerwise.engine.derivation import Table
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
        choices: the ways to ask them, in words.
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
    rules: Mapping[str, Table]
    questions: Mapping[str, Question]
    choices: Mapping[str, str]
    sentences: Sentences
    story: Sequence[Matter] = ()
    findings: Sentences = field(default_factory=Sentences)
    surprises: Tell = say_nothing
    links: Mapping[str, str] = field(default_factory=dict)
    shifted: Mapping[str, Collection[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Require words for every choice of the questions.

        Raises:
            LayerwiseError: for a choice without, as a misspelt one is.
        """
        for question in self.questions.values():
            if wordless := [choice for choice in question.choices if choice not in self.choices]:
                raise LayerwiseError(
                    f"{self.name}: `choices` must have words for every choice of its questions, "
                    f"found none for {wordless[0]!r} of {question.name}; give them, or correct "
                    "the name"
                )

    def choice_in_words(self, choice: str) -> str:
        """Return a choice in words: `category_out/lifestyle` is "without one category: lifestyle".

        Raises:
            LayerwiseError: for a choice that the paper does not list.
        """
        name, _, part = choice.partition("/")
        if name not in self.choices:
            raise LayerwiseError(
                f"claims.json or questions.json: a choice of method must be one of the "
                f"{len(self.choices)} that {self.name} lists, found {name!r:.80}; analyse and "
                "judge again"
            )
        words = self.choices[name]
        return f"{words}: {part.replace('_', ' ')}" if part else words
