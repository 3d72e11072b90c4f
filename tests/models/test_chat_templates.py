"""Chat templates: what the model is given is what the notebook gave it, or says so."""

import contextlib
import datetime
import locale
import time
from typing import Any

import pytest
import tokenizers
import transformers
from transformers.utils import chat_template_utils

from layerwise.errors import LayerwiseError, TextError
from layerwise.models import chat_templates
from layerwise.models.chat_templates import DATE, OwnTemplate, idle_options, leading_bos, render

BOS = "<|begin_of_text|>"
MARKS = (BOS, "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
WORDS = ("system", "user", "Today", "26", "Jul", "2024", "Ice", "melts", "unknown")
# The shape of Llama 3.1's: BOS, a system header with a date, the message, an answer's header.
CHAT = (
    "{{ bos_token }}{% if not date_string is defined %}{% set date_string = 'today' %}{% endif %}"
    "<|start_header_id|>system<|end_header_id|> Today {{ date_string }}<|eot_id|>"
    "{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|> "
    "{{ message.content }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>{% endif %}"
)


OWN = OwnTemplate()
MESSAGES = "{% for message in messages %}{{ message.content }}{% endfor %}"


def tokenizer_with(*, adds_bos: bool = True, chat: str | None = CHAT) -> Any:
    vocabulary = {word: number for number, word in enumerate((*MARKS, *WORDS))}
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="unknown"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    if adds_bos:
        model.post_processor = tokenizers.processors.TemplateProcessing(
            single=f"{BOS} $A", special_tokens=[(BOS, 0)]
        )
    found = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token=BOS, additional_special_tokens=list(MARKS[1:])
    )
    found.chat_template = chat
    return found


def rendered(tokenizer: Any, template: Any, statement: str = "Ice melts") -> str:
    (text,) = render(tokenizer, [statement], template)
    return text


def test_published_is_what_the_notebook_did() -> None:
    """One user message, no generation prompt, to text; then tokenised with special tokens."""
    tokenizer = tokenizer_with()
    text = rendered(tokenizer, "published")
    header = "<|start_header_id|>{}<|end_header_id|> "
    assert text == (
        f"{BOS}{header.format('system')}Today {DATE}<|eot_id|>"
        f"{header.format('user')}Ice melts<|eot_id|>"
    )
    twice, once = (tokenizer(text).input_ids, tokenizer(rendered(tokenizer, "once")).input_ids)
    assert twice[:3] == [0, 0, 1]
    assert twice == [0, *once]  # it differs by the second BOS alone
    assert rendered(tokenizer, "none") == "Ice melts"
    assert rendered(tokenizer, OWN) == text


@pytest.mark.parametrize("adds_bos", [True, False])
def test_a_readers_own_template_may_begin_with_any_number_of_bos(adds_bos: bool) -> None:
    """It is made as the published one; the number is told."""
    tokenizer = tokenizer_with(adds_bos=adds_bos)
    text = rendered(tokenizer, OWN)
    assert text == rendered(tokenizer_with(), "published")
    assert leading_bos(tokenizer(text).input_ids, tokenizer.bos_token_id) == 1 + adds_bos


@pytest.mark.parametrize(
    ("tokenizer", "template", "message"),
    [
        (tokenizer_with(), "twice", r"one of none, published, once, found 'twice'"),
        (tokenizer_with(chat=None), "published", "needs a tokenizer with a chat template"),
        (tokenizer_with(chat=None), OWN, r"--chat-template \(.*\) needs a tokenizer with a chat"),
        (tokenizer_with(adds_bos=False), "published", r"begin with 2 BOS, this .* begin with 1"),
        (tokenizer_with(adds_bos=False), "once", r"begin with 1 BOS, this .* begin with 0"),
        (
            tokenizer_with(chat="{{ bos_token }}" + CHAT),
            "published",
            "2 BOS, this .* begin with 3;",
        ),
    ],
)
def test_render_refused(tokenizer: Any, template: Any, message: str) -> None:
    with pytest.raises(LayerwiseError, match=message):
        rendered(tokenizer, template)


# --- the same text in every run -----------------------------------------------------------------

# Ways in which templates begin and end, which the line that seals them must not change.
SHAPES = (
    CHAT,
    MESSAGES,
    f"\n  {MESSAGES}\n",
    f"    {{% if true %}}\n  {MESSAGES} {{% endif %}}\n\n",
    f"{{#- a comment -#}}\n\n{MESSAGES}",
    "{%- set now = 'noon' -%} {{ now }} {{ messages[0]['content'] | trim }}",
)


@pytest.mark.parametrize("chat", SHAPES)
@pytest.mark.parametrize(
    "statement", ["Ice melts", "  Ice\nmelts ", "a", "user", "{{ bos_token }}"]
)
def test_a_text_is_that_of_transformers(chat: str, statement: str) -> None:
    tokenizer = tokenizer_with(chat=chat)
    message = [{"role": "user", "content": statement}]
    expected = tokenizer.apply_chat_template(message, tokenize=False, date_string=DATE)
    assert rendered(tokenizer, OWN, statement) == expected


DATED = (
    "{{ strftime_now('%Y-%m-%d %H:%M:%S') }} " + MESSAGES,
    "{% if strftime_now is defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
    "Today {{ date_string }}: " + MESSAGES,
    "{% macro today(clock) %}{{ clock('%A, %j') }}{% endmacro %}{{ today(strftime_now) }} "
    + MESSAGES,
)


@pytest.mark.parametrize("chat", [*DATED, CHAT])
def test_a_template_sees_the_same_date_on_two_days(
    monkeypatch: pytest.MonkeyPatch, chat: str
) -> None:
    texts = set()
    for day in (1, 2):

        class Clock(datetime.datetime):
            today = day

            @classmethod
            def now(cls, tz: Any = None) -> "datetime.datetime":
                return datetime.datetime(2026, 11, cls.today)

        monkeypatch.setattr(chat_template_utils, "datetime", Clock)
        tokenizer = tokenizer_with(chat=chat)
        texts.add(rendered(tokenizer, OWN))
        theirs = tokenizer.apply_chat_template([{"role": "user", "content": "x"}], tokenize=False)
        assert chat == CHAT or "2024" not in theirs  # the caller's program keeps its clock
    (text,) = texts
    assert any(word in text for word in ("2024-07-26 00:00:00", DATE, "Friday, 208"))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("{{ [1, 2, 3] | random }}", "random"),
        ("{{ lipsum(n=1, html=false) }}", "lipsum"),
        ("{{ time_now() }}", "time_now"),  # of a transformers to come
        ("{{ messages | salted }}", "salted"),
        ("{{ [messages] | map('salted') | list }}", "salted"),
    ],
)
def test_what_may_differ_from_run_to_run_refuses(
    monkeypatch: pytest.MonkeyPatch, call: str, name: str
) -> None:
    """Jinja's random choices, and every function and filter that nobody knows."""
    compile_template = chat_template_utils._cached_compile_jinja_template

    def with_more(source: str) -> Any:
        environment = compile_template("").environment
        environment.globals["time_now"] = environment.filters["salted"] = lambda *given: "now"
        return environment.from_string(source)

    chat_template_utils._compile_jinja_template.cache_clear()
    monkeypatch.setattr(chat_template_utils, "_cached_compile_jinja_template", with_more)
    with pytest.raises(LayerwiseError, match=f"same text in every run, .*calls '{name}'"):
        rendered(tokenizer_with(chat=call + MESSAGES), OWN)
    chat_template_utils._compile_jinja_template.cache_clear()


def test_a_template_whose_clock_could_not_be_set_is_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where a transformers to come keeps compiled templates elsewhere."""
    sealed = chat_template_utils._compile_jinja_template
    fresh = chat_template_utils._cached_compile_jinja_template
    calls = iter([sealed])
    monkeypatch.setattr(
        chat_template_utils,
        "_compile_jinja_template",
        lambda source: next(calls, fresh)(source),
    )
    with pytest.raises(Exception, match="its clock could not be set"):
        rendered(tokenizer_with(), OWN)


# --- options ------------------------------------------------------------------------------------

THINKS = (
    "{{ bos_token }}{% if mood is defined %}{{ mood }}, {% endif %}"
    + MESSAGES
    + "{% if add_generation_prompt %} ->{% if not thinks %} ...{% endif %}{% endif %}"
)


def test_options_are_the_templates_variables() -> None:
    tokenizer = tokenizer_with(chat=THINKS)
    assert rendered(tokenizer, OWN) == f"{BOS}Ice melts"
    assert rendered(tokenizer, OwnTemplate({"mood": "cold"})) == f"{BOS}cold, Ice melts"
    assert rendered(tokenizer, OwnTemplate({"bos_token": ""})) == "Ice melts"
    answer = OwnTemplate({"add_generation_prompt": True, "thinks": False})
    assert rendered(tokenizer, answer) == f"{BOS}Ice melts -> ..."
    dated = OwnTemplate({"date_string": "1 Jan 2000"})
    assert "Today 1 Jan 2000" in rendered(tokenizer_with(), dated)


@pytest.mark.parametrize("name", ["moood", "messages", "strftime_now", "tokenize", "message"])
def test_an_option_that_the_template_does_not_ask_for_is_refused(name: str) -> None:
    with pytest.raises(LayerwiseError, match=f"'{name}' is none; this one has .*mood"):
        rendered(tokenizer_with(chat=THINKS), OwnTemplate({name: "x"}))


def test_options_that_change_no_statement_are_named() -> None:
    tokenizer = tokenizer_with(chat=THINKS)
    options = OwnTemplate({"mood": "cold", "thinks": True})
    assert idle_options(tokenizer, ["Ice melts"], options) == ["thinks"]
    used = OwnTemplate({"add_generation_prompt": True, "thinks": True})
    assert idle_options(tokenizer, ["Ice melts"], used) == []
    assert idle_options(tokenizer, ["Ice melts"], "none") == []


# --- the statement is in its text ---------------------------------------------------------------

PARTS = (
    "{% for m in messages %}<|start_header_id|>{{ m['role'] }} {% for p in m['content'] %}"
    "{% if p['type'] == 'text' %}{{ p['text'] }}{% endif %}{% endfor %}<|eot_id|>{% endfor %}"
)


@pytest.mark.parametrize(
    ("chat", "statement", "cause"),
    [
        (PARTS, "Ice melts", "as a list of parts"),
        (PARTS, "user", "as a list of parts"),  # which the template writes itself
        ("{{ messages[0]['content'][:5] }}", "Ice melts", "of it; "),
        ("{{ messages[0]['content'] | upper }}", "Ice melts", "'ICE MELTS' of it; "),
        ("{{ messages[0]['content'].split('</x>')[-1] }}", "Ice </x> melts", "of it; "),
        ("{{ messages[0]['content'] | tojson }}", 'Ice "melts"', "of it; "),
        ("{{ bos_token }}", "Ice melts", "of it; "),
        (  # whose list of parts is whole, but its plain text is not
            "{% set content = messages[0]['content'] %}{% if content is string %}"
            "{{ content[:5] }}{% else %}{{ content[0]['text'] }}{% endif %}",
            "Ice melts",
            "of it; ",
        ),
    ],
)
def test_a_template_that_does_not_hold_the_statement_is_refused(
    chat: str, statement: str, cause: str
) -> None:
    """The second of two, by its number."""
    with pytest.raises(TextError, match=f"^statement 1 .* {cause}") as raised:
        render(
            tokenizer_with(
                chat="{% if messages[0]['content'] == 'fine' %}fine{% else %}"
                + chat
                + "{% endif %}"
            ),
            ["fine", statement],
            OWN,
        )
    assert (raised.value.kind, raised.value.number) == ("statements", 1)


@pytest.mark.parametrize("statement", ["  Ice melts\n", "user", "Ice", "a", "\ue000", "Today 26"])
def test_blanks_at_the_ends_may_go_and_words_of_the_template_come_again(statement: str) -> None:
    trimmed = tokenizer_with(chat=CHAT.replace("message.content", "message.content | trim"))
    assert statement.strip() in rendered(trimmed, OWN, statement)
    assert statement in rendered(tokenizer_with(), OWN, statement)


@pytest.mark.parametrize(
    "written",
    [
        "{{ messages|map('upper') }}",
        "{{ messages|selectattr('role') }}",
        "{{ messages|batch(2) }}",
        "{{ messages|slice(2) }}",
        "{{ joiner() }}",
        "{{ cycler('a', 'b') }}",
        "{{ joiner()|string|upper }}",
        "{{ messages[0].content.upper }}",
        "{{ '%s' % [joiner()] }}",
        # without the words before it, and without the sign of its base
        "{{ (messages|map('upper')|string).split(' at ')[1] }}",
        "{{ (messages[0].content.upper|string).split(' at ')[1] }}",
        "{{ (messages|map('upper')|string).split('0x')[1] }}",
        "{{ (joiner()|string).split('0x')[1] }}",
        "{{ (messages[0].content.upper|string).split('0x')[1] }}",
    ],
)
def test_the_address_of_an_object_is_refused(written: str) -> None:
    """Also where the next object comes to lie at the same place."""
    tokenizer = tokenizer_with(chat=written + MESSAGES)
    with pytest.raises(LayerwiseError, match="the same text in every run"):
        render(tokenizer, ["Ice melts"], OWN)


@pytest.mark.parametrize("written", ["", "called at 0xff by ", "0x00c0ffee, "])
@pytest.mark.parametrize(
    "statement", ["It crashed at 0x7f and at 0xFF", "0x1234abcd", "It is at 0x7fb6d9b9fb40>"]
)
def test_an_address_that_a_statement_or_a_template_spells_stays(
    written: str, statement: str
) -> None:
    tokenizer = tokenizer_with(chat=written + MESSAGES)
    assert rendered(tokenizer, OWN, statement) == written + statement


def test_a_text_that_is_another_the_next_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever makes it so: here a function that a later library might have."""
    numbers = iter(range(9))
    monkeypatch.setattr(chat_templates, "FUNCTIONS", {*chat_templates.FUNCTIONS, "turn"})
    tokenizer = tokenizer_with(chat="{{ turn() }}" + MESSAGES)
    compiled = chat_template_utils._compile_jinja_template

    def with_turn(source: str) -> Any:
        template = compiled(source)
        template.environment.globals["turn"] = template.globals["turn"] = lambda: next(numbers)
        return template

    monkeypatch.setattr(chat_template_utils, "_compile_jinja_template", with_turn)
    with pytest.raises(LayerwiseError, match="another one the next time"):
        render(tokenizer, ["Ice melts"], OWN)


ALL_OF_THE_CLOCK = "%d %b %Y, %A %a %B %-d %H:%M:%S %p %j %Z %z 100%%"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_the_clock_follows_no_zone_and_no_language(
    monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    language = locale.setlocale(locale.LC_TIME)
    try:
        for name in ("de_DE.UTF-8", "C.UTF-8"):
            with contextlib.suppress(locale.Error):  # a machine may lack it
                locale.setlocale(locale.LC_TIME, name)
            tokenizer = tokenizer_with(
                chat=f"{{{{ strftime_now('{ALL_OF_THE_CLOCK}') }}}} " + MESSAGES
            )
            expected = "26 Jul 2024, Friday Fri July 26 00:00:00 AM 208 UTC +0000 100% Ice melts"
            assert rendered(tokenizer, OWN) == expected
    finally:
        locale.setlocale(locale.LC_TIME, language)
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("directive", ["%s", "%c", "%x", "%X", "%Ey", "%Od", "%-s", "%r", "%+"])
def test_what_follows_the_machines_zone_or_language_is_refused(directive: str) -> None:
    tokenizer = tokenizer_with(chat=f"{{{{ strftime_now('{directive}') }}}} " + MESSAGES)
    with pytest.raises(LayerwiseError, match="asks the clock for '%"):
        render(tokenizer, ["Ice melts"], OWN)
