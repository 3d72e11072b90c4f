"""Statements in a tokenizer's chat template: a text that is the same in every run.

The template notebook of Paper 2 rendered one user message to text and tokenised that text once
more, special tokens on. The rendered text already begins with BOS, so the model saw two of them,
and the mean over positions 1.. held the second, the system header, the role headers and the end
of the turn. `published` is that text; `once` is the same without its own BOS, so that the
tokenizer's is the only one. Both are plain text: the tokenizer is called as for any statement.
`OwnTemplate` is made like `published`, for a reader's model, whatever number of BOS its texts begin
with, and with the options that the reader gives.

A template is a program of the checkpoint, which transformers runs in Jinja's sandbox. Whatever
differs from run to run can reach it only through functions and filters of that environment: the
clock (`strftime_now`), Jinja's random choices, and what a later transformers may add. So the clock
stands still, in a zone and language of its own, and every function or filter that is not known to
depend on its arguments alone is replaced by one that refuses. What these give is an object
sometimes, whose text holds its place in memory: a text with such a place is refused, and so is one
that comes out otherwise the second time, while the objects of the first keep their places.
"""

import contextlib
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, get_args

import jinja2.meta
from jinja2.defaults import DEFAULT_FILTERS

from layerwise.errors import LayerwiseError, TextError
from layerwise.files import JsonObject
from layerwise.models.registry import Template

# How many BOS the tokenised text begins with.
N_BOS: Mapping[Template, int] = {"published": 2, "once": 1}
# Llama 3.1's template writes a date into its system header. The notebook passed none; the
# template's own default is said here, so that no later version of it can change a text. A template
# that asks for the clock gets the same day.
DATE = "26 Jul 2024"
CLOCK = datetime(2024, 7, 26, tzinfo=UTC)
# What strftime says of it in English; the machine's language would change these.
IN_ENGLISH = {"%a": "Fri", "%A": "Friday", "%b": "Jul", "%B": "July", "%h": "Jul", "%p": "AM"}
OF_THE_CLOCK = frozenset("deHIjklmMSuUVwWyYzZfGDFTR%nt")  # directives that ask nothing else
_DIRECTIVE = re.compile(r"%[^a-zA-Z%]*[EO]?[a-zA-Z%]?")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}", re.IGNORECASE)  # in the text of an object
# What depends on its arguments alone, of Jinja's and transformers' functions for templates.
FUNCTIONS = {"cycler", "dict", "joiner", "namespace", "raise_exception", "range"}
FILTERS = DEFAULT_FILTERS.keys() - {"random"}
# The first line of every template. transformers keeps compiled templates, each with an environment,
# by their text: with this line ours are none that the caller's program uses, and they run nowhere
# but in the environment whose functions were replaced.
SEALED = "layerwise_sealed"
SEAL = (
    f"{{% if not {SEALED} %}}{{{{ raise_exception('its clock could not be set') }}}}{{% endif %}}\n"
)
KEPT = "layerwise_kept"  # of an environment
NO_STATEMENT = "\0"  # in the place of a statement: a character that none holds


@dataclass(frozen=True)
class OwnTemplate:
    """The chat template of a reader's tokenizer.

    Attributes:
        options: values of JSON that the template is given beside the statement, by name.
    """

    options: JsonObject = field(default_factory=dict)


Wrapping = Template | OwnTemplate  # the registry's, and that of a reader's model


def render(tokenizer: Any, statements: Sequence[str], template: Wrapping) -> list[str]:
    """Return every statement as the only message of a user, without the header of an answer.

    Raises:
        LayerwiseError: for an unknown template, an option that the template does not have, or a
            tokenizer that has no template, one that may change from run to run, or one that puts
            another number of BOS tokens before its text.
        TextError: for a statement that does not stand whole in its text.
    """
    if template == "none":
        return list(statements)
    chat = _Chat.of(tokenizer, template)
    texts = [_steady_text(chat, statement) for statement in statements]
    _require_whole(chat, statements, texts)
    if isinstance(template, OwnTemplate):
        return texts
    if template == "once":
        texts = [text.removeprefix(tokenizer.bos_token) for text in texts]
    _require_bos(tokenizer, texts, template)
    return texts


def idle_options(tokenizer: Any, statements: Sequence[str], template: Wrapping) -> list[str]:
    """Return the options that change the text of no statement."""
    if not isinstance(template, OwnTemplate) or not template.options:
        return []
    texts, idle = render(tokenizer, statements, template), []
    for name in template.options:
        others = {other: value for other, value in template.options.items() if other != name}
        with contextlib.suppress(Exception):  # a template may insist on an option
            if render(tokenizer, statements, OwnTemplate(others)) == texts:
                idle.append(name)
    return idle


def leading_bos(tokens: Sequence[int] | Sequence[str], bos: int | str | None) -> int:
    """Return how many BOS tokens a text begins with."""
    return next((n for n, token in enumerate(tokens) if token != bos), len(tokens))


@dataclass(frozen=True)
class _Chat:
    """A tokenizer's chat template, sealed: its source, and the options that it is given.

    Attributes:
        kept: every object that came up in a rendering; its place in memory is taken meanwhile.
    """

    tokenizer: Any
    source: str
    options: JsonObject
    kept: list[Any]

    @classmethod
    def of(cls, tokenizer: Any, template: Wrapping) -> "_Chat":
        """Seal the template of a tokenizer, if it has one with these options."""
        is_own = isinstance(template, OwnTemplate)
        if not is_own and template not in get_args(Template):
            raise LayerwiseError(
                f"a chat template is one of {', '.join(get_args(Template))}, found {template!r}"
            )
        if not getattr(tokenizer, "chat_template", None):
            option = "--chat-template (chat_template=True)" if is_own else f"template {template!r}"
            raise LayerwiseError(
                f"{option} needs a tokenizer with a chat template, this one has none; use an "
                "instruction-tuned model, or ask for no template"
            )
        options = template.options if isinstance(template, OwnTemplate) else {}
        source = str(tokenizer.get_chat_template(tools=options.get("tools")))
        variables, kept = _seal(SEAL + source)
        if unknown := [name for name in options if name not in variables]:
            raise LayerwiseError(
                "--template-options (template_options=...) must be variables of the chat "
                f"template, {', '.join(map(repr, unknown)):.200} is none; this one has "
                f"{', '.join(sorted(variables)) or 'no variable'}"
            )
        return cls(tokenizer, SEAL + source, options, kept)

    def text(self, content: Any) -> str:
        """Return the text of a conversation with one message."""
        message = [{"role": "user", "content": content}]
        variables = {"date_string": DATE, **self.options}
        self.kept.append(message)
        text = self.tokenizer.apply_chat_template(
            message, chat_template=self.source, tokenize=False, **variables
        )
        return str(text)


def _seal(source: str) -> tuple[set[str], list[Any]]:
    """Let a template give one text for one input.

    Returns the variables that it asks for, and the list in which its objects are kept.
    """
    from transformers.utils.chat_template_utils import _compile_jinja_template

    environment = _compile_jinja_template(source).environment
    functions, filters = environment.globals, environment.filters
    functions.update({name: _refusing(name) for name in functions.keys() - FUNCTIONS})
    functions.update({SEALED: True, "strftime_now": _strftime})
    filters.update({name: _refusing(name) for name in filters.keys() - FILTERS})
    if not hasattr(environment, KEPT):  # transformers keeps the environment, by the source
        kept: list[Any] = []
        filters.update({name: _keeping(filters[name], kept) for name in FILTERS & filters.keys()})
        for name in ("call", "getattr", "getitem"):
            setattr(environment, name, _keeping(getattr(environment, name), kept))
        setattr(environment, KEPT, kept)
    variables = jinja2.meta.find_undeclared_variables(environment.parse(source)) - {"messages"}
    return variables, getattr(environment, KEPT)


def _keeping(function: Callable[..., Any], kept: list[Any]) -> Callable[..., Any]:
    """Return a function that also keeps what it gives."""

    @functools.wraps(function)  # with the marks by which Jinja passes its context
    def keep(*given: Any, **named: Any) -> Any:
        kept.append(function(*given, **named))
        return kept[-1]

    return keep


def _strftime(wanted: str) -> str:
    """Return the time of the clock in a format, whatever the zone and language of the machine."""

    def say(directive: re.Match[str]) -> str:
        code = directive.group()
        if code in IN_ENGLISH:
            return IN_ENGLISH[code]
        if code[-1] not in OF_THE_CLOCK or any(sign in code for sign in "EO"):
            raise LayerwiseError(
                "a chat template must give a statement the same text on every machine, this one "
                f"asks the clock for {code!r}, which follows its zone or language; give the "
                "tokenizer a template that writes the date out, as %d %b %Y"
            )
        return CLOCK.strftime(code)

    return _DIRECTIVE.sub(say, wanted)


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*_given: Any, **_named: Any) -> Any:
        raise LayerwiseError(
            "a chat template must give a statement the same text in every run, this one calls "
            f"{name!r}, which may not; give the tokenizer a template without it"
        )

    return refuse


def _steady_text(chat: _Chat, statement: str) -> str:
    """Return the text; refuse one that is another the next time, or says where an object is.

    Objects that outlive a rendering have one address: it is looked for in what nobody gave.
    """
    chat.kept.clear()
    text = chat.text(statement)
    known = f"{statement} {chat.source} {chat.options} {chat.tokenizer.special_tokens_map}"
    address = next((part for part in _ADDRESS.findall(text) if part not in known), None)
    if address is None and chat.text((statement + " ")[:-1]) == text:  # the statement elsewhere too
        return text
    because = "another one the next time" if address is None else f"the address {address}"
    raise LayerwiseError(
        "a chat template must give a statement the same text in every run, this one gives "
        f"{because}, in {text[:200]!r:.200}; it writes an object in place of its words: join a "
        "filter's results (|map('upper')|join), call a joiner or cycler, or ask for no template"
    )


def _require_whole(chat: _Chat, statements: Sequence[str], texts: Sequence[str]) -> None:
    """Refuse a template that does not put a statement into its text as it is.

    Blanks at its ends may go. The template's own words may hold the statement too, so it must
    stand in its text once more than in that of no statement.
    """
    own_words = chat.text(NO_STATEMENT)
    for number, (statement, text) in enumerate(zip(statements, texts, strict=True)):
        whole = statement.strip()
        if text.count(whole) > own_words.count(whole):
            continue
        is_for_parts = NO_STATEMENT not in own_words and _takes_parts(chat)
        because = ", for it takes content as a list of parts" if is_for_parts else ""
        raise TextError(
            f"statement {number} ({statement[:80]!r:.80}): a chat template must put a statement "
            f"whole into its text, this one makes {text[:200]!r:.200} of it{because}; give the "
            "tokenizer a template that writes the content of a message as it is, or ask for no "
            "template",
            "statements",
            number,
        )


def _takes_parts(chat: _Chat) -> bool:
    """Return whether a template writes content that is a list of parts, as of text and images."""
    try:
        return NO_STATEMENT in chat.text([{"type": "text", "text": NO_STATEMENT}])
    except Exception:  # most templates can do nothing with a list
        return False


def _require_bos(tokenizer: Any, texts: Sequence[str], template: Template) -> None:
    wanted = N_BOS[template]
    for text in texts:
        n_bos = leading_bos(tokenizer(text).input_ids, tokenizer.bos_token_id)
        if n_bos != wanted:
            raise LayerwiseError(
                f"template {template!r} stands for texts that begin with {wanted} BOS, this "
                f"tokenizer's begin with {n_bos}; its template or its special tokens are not "
                "those of the published runs"
            )
