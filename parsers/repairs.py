"""Every kind of repair: what was forgiven in a reply, in one literal table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .step import Repair, Span


class Kind(NamedTuple):
    """What a repair of this kind says. `changed`: the name or the arguments are not as they were written,
    or text
    behind them was dropped; otherwise it is only about layout."""

    sentence: str
    changed: bool = True


REPAIRS: Mapping[str, Kind] = {
    # what the model wrote
    "invented_observation": Kind(
        "An observation that the model wrote itself was cut, with all behind it.", False
    ),
    "answer_after_call": Kind("An answer that was written before the call had a result was dropped.", False),
    "later_actions": Kind("Further actions were not read, since only the first one is wanted.", False),
    "repeated_action": Kind("An action that was written twice word for word counts once.", False),
    "repetition": Kind(
        "The reply went on with what stood there before, again and again; that was cut.", False
    ),
    "repeated_answer": Kind("Of several final answers the last one counts.", False),
    "step_after_answer": Kind("A step that was written behind the final answer was dropped.", False),
    "dropped_tail": Kind("Text behind the input was dropped."),
    "next_question": Kind("The model went on with the next question; that was cut.", False),
    "end_token": Kind("Text was cut at a token that ends a turn.", False),
    "half_stop_word": Kind(
        "The beginning of an observation label at the end of the text was dropped.", False
    ),
    "thinking": Kind("A thinking block was left out.", False),
    "answer_cut": Kind("The answer reached the length limit and is not complete.", False),
    "unlabelled_answer": Kind("The answer has no label.", False),
    "unlabelled_call": Kind("The call has no label; it stood alone.", False),
    "placeholder": Kind("A value looks like a placeholder.", False),
    # the name
    "tool_name": Kind("The name of the tool was spelled differently."),
    "name_in_sentence": Kind("The name of the tool was found in a sentence."),
    # where the input stood
    "inline_input": Kind("The input stood on the line of the action.", False),
    "missing_input_label": Kind("The input has no label.", False),
    "wrapped_step": Kind("The arguments were inside a whole step or an envelope."),
    "wrapped_arguments": Kind("The arguments were inside one more object."),
    "encoded_twice": Kind("The arguments were JSON inside a text."),
    # what kind of input it was
    "text_input": Kind("Text became the only parameter.", False),
    "quoted_input": Kind("The quotes around a text were left out.", False),
    "markdown_escape": Kind("Markdown escapes were taken out of a text."),
    "key_value_lines": Kind("The arguments were lines of key and value."),
    "parameter_tags": Kind("The arguments were tags named like parameters."),
    "call_arguments": Kind("The arguments were written like those of a function.", False),
    "shell_flags": Kind("The arguments were written like flags of a shell.", False),
    "empty_input": Kind("The input says that there is none.", False),
    "schema_echo": Kind("The input repeated the schema of a tool that needs nothing."),
    # damaged JSON
    "inner_quotes": Kind("Quotes inside a text were not escaped."),
    "single_quotes": Kind("Single quotes stood for double ones."),
    "typographic_quotes": Kind("Typographic quotes stood for plain ones."),
    "backtick_string": Kind("A text stood between backticks."),
    "python_string": Kind("A text stood between triple quotes."),
    "python_words": Kind("True, False or None stood for true, false or null."),
    "other_punctuation": Kind("Other punctuation stood for that of JSON."),
    "unquoted_key": Kind("A key had no quotes."),
    "unquoted_value": Kind("A text had no quotes."),
    "trailing_comma": Kind("A comma stood before a closing bracket."),
    "missing_colon": Kind("A colon between key and value was missing."),
    "missing_comma": Kind("A comma was missing."),
    "missing_brackets": Kind("Closing brackets were missing."),
    "comment": Kind("Comments were left out."),
    "joined_strings": Kind("Texts were joined with a plus sign."),
    "raw_backslashes": Kind("Backslashes in a text were not escaped."),
    "escaped_once_more": Kind("Quotes around keys and values were escaped."),
    "set_braces": Kind("Values between braces were read as a list."),
    "undefined": Kind("An undefined value was left out."),
    "json_repair": Kind("The JSON was repaired by json-repair."),
    # arguments and their schema
    "renamed_argument": Kind("A parameter was spelled with other case or separators."),
    "text_to_number": Kind("A text became a number."),
    "number_to_text": Kind("A number became a text, as it was written."),
    "whole_number": Kind("A whole number with a decimal point became an integer.", False),
    "text_to_boolean": Kind("A text became true or false."),
    "text_to_null": Kind("A text became null."),
    "text_to_list": Kind("A text became a list."),
    "text_to_object": Kind("A text became an object."),
    "wrapped_in_list": Kind("One value became a list."),
    "enum_case": Kind("A choice was spelled in another case."),
    "empty_argument": Kind("An optional parameter without a value was left out."),
}
"""Kind → what it says, and whether the call was changed by it."""


def repair(kind: str, start: int, end: int) -> Repair:
    """A repair of a known kind that stood at `text[start:end]`."""
    return Repair(kind, Span(start, end), REPAIRS[kind].sentence)
