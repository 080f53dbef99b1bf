"""The calculator: what models write, what breaks out of calculators, and exact numbers."""

from __future__ import annotations

import ast
import json
import os
import random
import re
import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from react_agent.errors import ToolError
from react_agent.parsers.step import Action, Span
from react_agent.tools import Toolbox, builtin
from react_agent.tools import calculator as module
from react_agent.tools.calculator import calculator, evaluate
from react_agent.tools.expression import MAX_CHARS, normalised
from react_agent.tools.functions import FUNCTIONS, SYNONYMS
from react_agent.tools.numbers import written
from react_agent.tools.trigonometry import PI_TEXT


def refusal(expression: str) -> str:
    """The message for an expression that must be refused, after checking that it is one short line."""
    with pytest.raises(ToolError) as caught:
        evaluate(expression)
    message = str(caught.value)
    assert message == message.strip()
    assert "\n" not in message
    assert len(message) < 400
    assert all(char.isprintable() for char in message)
    return message


RESULTS = [
    ("17.5% of 2340", "409.5"),
    ("15% * 80", "12"),
    ("80 * 15%", "12"),
    ("100 + 10%", "110 [10% of 100 added]"),
    ("10 % 3", "1"),
    ("2,340 * 1.5", "3510"),
    ("2^10", "1024"),
    ("2**10", "1024"),
    ("-2^2", "-4"),
    ("2^3^2", "512"),
    ("(-2)^2", "4"),
    ("5 × 3", "15"),
    ("3x4", "12"),
    ("3 x 4", "12"),
    ("2·3", "6"),
    ("6 ÷ 4", "1.5"),
    ("5 − 3", "2"),
    ("$4.50*2", "9"),
    ("€10/4", "2.5"),
    ("10 / 3 =", "3.33333333333333"),
    ("10/3 = ?", "3.33333333333333"),
    ("sqrt(16)", "4"),
    ("√16", "4"),
    ("sqrt(2)", "1.4142135623731"),
    ("sin(30 degrees)", "0.5"),
    ("sin(30°)", "0.5"),
    ("sin(30)", "-0.988031624092862 [radians]"),
    ("sin(pi)", "0"),
    ("cos(pi/2)", "0"),
    ("1e400", "1e+400"),
    ("0.1+0.2", "0.3"),
    ("1.1+2.2", "3.3"),
    ("4.35*100", "435"),
    ("100*1.15", "115"),
    ("mean(1,2,3)", "2"),
    ("mean([1,2,3])", "2"),
    ("average(1,2)", "1.5"),
    ("log(100, 10)", "2"),
    ("log10(1000)", "3"),
    ("log(8,2)", "3"),
    ("log(100)", "4.60517018598809 [natural log]"),
    ("12!", "479001600"),
    ("factorial(12)", "479001600"),
    ("0!", "1"),
    ("170!", "7.257415615308e+306 (307 digits)"),
    ("123456789*987654321", "121932631112635269"),
    ("2^64", "18446744073709551616"),
    ("2^53+1", "9007199254740993"),
    ("1e16+1", "10000000000000001"),
    ("1/3+1/3+1/3", "1"),
    ("2/3", "0.666666666666667"),
    ("5/9*(98.6-32)", "37"),
    ("100*1.07^10", "196.715135728957"),
    ("round(2.675, 2)", "2.68"),
    ("round(2.5)", "3"),
    ("round(-2.5)", "-3"),
    ("17 // 5", "3"),
    ("-7 // 2", "-4"),
    ("-7 mod 3", "2"),
    ("17 mod 5", "2"),
    ("2(3+4)", "14"),
    ("(1+2)(3+4)", "21"),
    ("2pi", "6.28318530717959"),
    ("max(3, 9, 4)", "9"),
    ("abs(-5)", "5"),
    ("floor(2.7)", "2"),
    ("gcd(12, 18)", "6"),
    ("1.5e3*2", "3000"),
    (".5+.5", "1"),
    ("1_000+1", "1001"),
    ("3.33333333333333*3", "9.99999999999999"),
]


@pytest.mark.parametrize(("expression", "result"), RESULTS)
def test_table_of_results(expression: str, result: str) -> None:
    assert evaluate(expression) == result


def test_table_ln_is_the_natural_logarithm_with_or_without_a_note() -> None:
    assert evaluate("ln(100)").split()[0] == "4.60517018598809"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("100 USD * 2", "units and other words are not supported, 'USD'"),
        ("5 kg + 3 kg", "units and other words are not supported, 'kg'"),
        ("1/0", "division by zero"),
        ("0/0", "division by zero"),
        ("sqrt(-4)", "no real result"),
        ("2 + 2 = 5", "give only the expression, e.g. 2 + 2"),
        ("x = 5*3", "give only the expression, e.g. 5*3"),
        ("15:30 - 12:15", "times such as 15:30 are not numbers; write minutes, e.g. 15*60 + 30"),
        ("what is 5 plus 3", "give only numbers and signs"),
        ("", "is empty; give an arithmetic expression, e.g. "),
    ],
)
def test_table_of_errors(expression: str, words: str) -> None:
    assert words in refusal(expression)


# What else models write


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("２，３４０＋１", "2341"),
        ("（３＋４）×２", "14"),
        ("３０％ of 50", "15"),
        ("٣+٤", "7"),
        ("2²", "4"),
        ("10⁻³", "0.001"),
        ("2^3²", "512"),
        ("½ + ¼", "0.75"),
        ("100 - ½", "99.5"),
        (r"\frac{1}{2} \times 80", "40"),
        (r"\frac{\frac{1}{2}}{4}", "0.125"),
        (r"\sqrt{16} + 2^{10}", "1028"),
        (r"\(3 \cdot 4\)", "12"),
        (r"$3 \div 4$", "0.75"),
        (r"\sin(30^\circ)", "0.5"),
        ("2 \times 3", "6"),
        ("\frac{1}{4}", "0.25"),
        ("`2+2`", "4"),
        ("'2+2'", "4"),
        ("“2+2”", "4"),
        ("```\n2+2\n```", "4"),
        ("```python\n2+2\n```", "4"),
        ('{"expression": "3*3"}', "9"),
        ('{"input": "3*3", "precision": 2}', "9"),
        ("=2+2", "4"),
        ("2+2?", "4"),
        ("(2+2).", "4"),
        ("math.sqrt(16)", "4"),
        ("np.mean([2, 4])", "3"),
        ("SQRT(16) + Pi - PI", "4"),
        ("20% off 50", "40 [20% of 50 subtracted]"),
        ("15 percent of 80", "12"),
        ("10% of 20% of 500", "10"),
        ("100 - 10% of 50", "95"),
        ("1/2 of 80", "40"),
        ("640 - 15%", "544 [15% of 640 subtracted]"),
        ("640 * (1 - 15%)", "544"),
        ("100 + (10% + 5%)", "115 [15% of 100 added]"),
        ("100 + 10% + 5%", "115.5 [10% of 100 added; 5% of 110 added]"),
        ("5% + 3%", "0.08"),
        ("50%", "0.5"),
        ("10% + 5", "5.1 [10% read as 0.1]"),
        ("10%(3)", "1"),
        ("10 % pi", "0.57522203923062"),
        ("20% x 50", "10"),
        ("3 x pi", "9.42477796076938"),
        ("2 x (3)", "6"),
        ("€5.00 + €3.50", "8.5"),
        ("5€ * 3", "15"),
        ("1,234,567.89 + 0.11", "1234568"),
        ("(1,200 + 300) * 2", "3000"),
        ("max((1,200), 5)", "1200"),
        ("max(1,200)", "200 [the comma separates numbers]"),
        ("log(1,024)", "0 [the comma separates numbers]"),
        ("gcd(1,200,800)", "1 [the comma separates numbers]"),
        ("max(12,34)", "34"),
        ("=PI()*2", "6.28318530717959"),
        ("e( )^2", "7.38905609893065"),
        ("2π²", "19.7392088021787"),
        ("e²", "7.38905609893065"),
        ("1/2pi", "1.5707963267949 [a/bc read as (a/b)*c]"),
        ("6/2(1+2)", "9 [a/bc read as (a/b)*c]"),
        ("2^2pi", "12.5663706143592 [a^bc read as (a^b)*c]"),
        ("sqrt 16 + 9", "13"),
        ("√√16", "2"),
        ("2√9", "6"),
        ("∛27", "3"),
        ("sin 30 degrees", "0.5"),
        ("-3!", "-6"),
        ("(3!)!", "720"),
        ("4!^2", "576"),
        ("2--3", "5"),
        ("2*-3", "-6"),
        ("2^-1", "0.5"),
        ("mod(17, 5)", "2"),
        ("007 + 1", "8"),
        ("5. + .5", "5.5"),
        ("arcsin(1) * 2 / pi", "1"),
        ("asin(0.5)", "0.523598775598299 [radians]"),
        ("degrees(asin(0.5))", "30"),
        ("sin(radians(30))", "0.5"),
        ("sin(0.5 rad)", "0.479425538604203"),
        ("atan(1)*180/pi", "45"),
        ("90° + 45°", "135 [degrees]"),
        ("sin(90° / 3)", "0.5"),
        ("sin(0)", "0"),
        ("tan(45°)", "1"),
        ("8^(1/3)", "2"),
        ("27^(2/3)", "9"),
        ("(4/9)^0.5", "0.666666666666667"),
        ("cbrt(-27)", "-3"),
        ("root(32, 5)", "2"),
        ("(sqrt(2))^2 - 2", "0"),
        ("floor(sqrt(2)*sqrt(2))", "2"),
        ("-sqrt(2) * sqrt(2)", "-2"),
        ("max(sqrt(2), 1)", "1.4142135623731"),
        ("median(3, 1, 2, 10)", "2.5"),
        ("log(1000, 10)", "3"),
        ("exp(ln(2))", "2"),
        ("exp(1000)", "1.97007111401705e+434"),
        ("1.0001^100000", "22015.4560485522"),
        ("1.000000001^(10^9)", "2.7182818270999"),
        ("(1+1e-30)^(10^30)", "2.71828182845905"),
        ("sin(10^22)", "-0.852200849767189 [radians]"),
        ("sin(1e-40)", "1e-40 [radians]"),
        ("0 + exp(-100)", "3.72007597602084e-44"),
        ("comb(52, 5)", "2598960"),
        ("nCr(5, 2) + nPr(5, 2)", "30"),
        ("lcm(4, 6)", "12"),
        ("round(123.456, -1)", "120"),
        ("ceil(-2.5)", "-2"),
        ("trunc(-2.5)", "-2"),
        ("int(2.5)", "2"),
        ("sign(-3)", "-1"),
        ("product(2, 3, 4)", "24"),
        ("tanh(10000)", "1"),
        ("sinh(1e-60)", "1e-60"),
        ("ln(1 + 1e-70)", "1e-70"),
        ("asin(1e-3000)", "1e-3000 [radians]"),
        ("cos(1e-3000)", "1 [radians]"),
        ("1e-7", "0.0000001"),
        ("999999999999999.9", "999999999999999.9"),
        ("123456789012345678/7", "1.76366841446208e+16"),
        ("1e100", "1e+100"),
        ("10^99", "1" + "0" * 99),
    ],
)
def test_what_models_write(expression: str, result: str) -> None:
    assert evaluate(expression) == result


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("squared 3", "'squared' is a word; write the sign, e.g. 5^2"),
        ("3 divided 4", "'divided' is a word; write the sign, e.g. 5 / 3"),
        ("2x + 1", "'x' has no value here"),
        ("fmod(-7, 3)", "unknown function 'fmod'"),
        ("ln 2³", "in brackets"),
        ("5 kg", "units and other words are not supported, 'kg'; give only numbers and signs"),
        ("20°C", "units"),
        ("12,34", "write 1234 or 12.34"),
        ("0,500 * 2", "write 0500 or 0.500"),
        ("01,234", "is not a number"),
        ("1.2.3", "is not a number"),
        ("2 3", "two numbers side by side"),
        ("1 234", "write 1234 without spaces"),
        ("2½", "write e.g. 2.5 or 2 + 1/2"),
        ("2025-06-18", "looks like a date"),
        ("0x10", "hexadecimal"),
        ("2e", "an exponent or the number e"),
        ("3:4", "for a ratio write 3 / 4"),
        ("$5 + €3", "two currencies"),
        ("max(1,200, 3)", "write 1200, not 1,200"),
        ("sqrt(1,024)", "sqrt takes 1 number, not 2"),
        ("log(1, 2, 3)", "log takes 1 to 2 numbers, not 3"),
        ("(1, 2)", "a comma separates"),
        ("3 of 5", "needs a percentage or a fraction"),
        ("20 off 50", "20% off 50"),
        ("sin 2pi", "in brackets, e.g. sin(2 * pi)"),
        ("sin", "sin needs its numbers in brackets"),
        ("5 min", "min needs its numbers in brackets"),
        ("30° + 1", "degrees and plain numbers"),
        ("sqrt(30°)", "not degrees"),
        ("tan(90°)", "no real result"),
        ("5!!", "!! is not supported"),
        ("3.5!", "whole number"),
        ("(-3)!", "0 or more"),
        ("gcd(1.5, 2)", "whole number"),
        ("10^100 mod pi", "no exact remainder"),
        ("|-5|", "abs(x)"),
        ("(2+3", "a bracket is not closed"),
        ("2+3)", ") closes no bracket"),
        ("[2+3)", "lists stand only inside a function"),
        ("max([1, 2)", ") closes no bracket"),
        ("()", "nothing stands before )"),
        ("max()", "nothing stands before )"),
        ("max(,1)", "a comma stands between"),
        ("mean([1,2], 3)", "a list stands alone"),
        ("5 +", "ends with '+'"),
        ("* 5", "a number is missing before *"),
        ("5 */ 3", "two signs side by side"),
        ("2 ** * 3", "two signs side by side"),
        ("%5", "stands after a number"),
        ("1 < 2", "compares"),
        ("2+2 == 4", "compares"),
        ("2+2\n3+3", "one expression at a time"),
        ("2+2; 3", "one expression at a time"),
        (r"\pm 3", "LaTeX command"),
        (r"\frac 1 2", "LaTeX command"),
        (r"\frac{1}", "two groups"),
        ("∞", "infinity"),
        ("foo(3)", "unknown function 'foo'; allowed: numbers, + - * / ^ % ! ( ), pi, e, and sqrt, "),
        ("1e9999", "too large"),
        ("1e-9999", "too small"),
        ("1e999999999999999999", "too large"),
        ("exp(-10000)", "too small"),
        ("sin(10^40)", "too large"),
        ("(1+1e-20)^(10^30)", "too large"),
        ("2^(10^400)", "too large"),
        ("①+1", "is not arithmetic"),
        (".²", "a dot"),
        ("30° 15", "two numbers side by side"),
    ],
)
def test_what_is_refused_says_why_and_what_works(expression: str, words: str) -> None:
    assert words in refusal(expression)


def test_the_tool_is_built_in_and_describes_itself() -> None:
    assert builtin("calculator") is calculator
    assert calculator.spec.effect == "pure"
    assert list(calculator.spec.parameters["properties"]) == ["expression"]
    assert "half away from zero" in calculator.spec.description
    seen = Toolbox([calculator]).call(Action("calculator", {"expression": "2 + 3"}, Span(0, 0)))
    assert (seen.text, seen.kind, seen.tool) == ("5", "tool", "calculator")


def test_every_function_can_be_called_by_all_its_names() -> None:
    given_numbers = {"gcd": "12, 18", "comb": "5, 2", "perm": "5, 2", "pow": "2, 3", "mod": "7, 4"}
    for name in [*FUNCTIONS, *SYNONYMS]:
        numbers = given_numbers.get(SYNONYMS.get(name, name), "1")
        assert re.match(r"-?[0-9]", evaluate(f"{name}({numbers})"))


# Attacks: S1 to S20

S1 = [
    "__import__('os').system('touch PWNED')",
    "open('/etc/passwd').read()",
    "eval('1')",
    "exec(1)",
    "print(1)",
]
S2 = ["().__class__.__bases__[0].__subclasses__()", "1..real", "(1).bit_length()"]
S3 = [
    "lambda: 1", "lambda x: x", "[x for x in (1, 2)]", "(x:=5)", "f'1'", 'f"{1}"', "await x",
    "...", "1j", "b'a'",
    "'a'*3", "x[0]", "*a", "1 if 1 else 2", "True", "not 1", "{1}", "{1: 2}", "[1]", "1 < 2",
    "yield 1", "a.b",
    "max(**{})", "round(1, n=2)", "1 @ 2", "1 and 2", "None", "Percent(5)", "sqrt", "pi.real",
    "'{0.__class__}'",
]  # fmt: skip
S4 = ["9**9**9**9", "2^(10^9)"]
S5 = ["2**4000000"]
S6 = ["1 << 10**9", "7 >> -1", "5 & 3", "~5", "5 | 3"]
S7 = ["1000000!", "factorial(10**6)", "(10^100)!"]
S8 = ["comb(1000000, 500000)", "perm(200000,100000)", "comb(10^3000, 10^2000)", "perm(10^3000, 10^2999)"]
S9 = [
    "(" * 10_000 + "1" + ")" * 10_000,
    "(" * 400 + "1" + ")" * 400,
    "[" * 900,
    "sqrt(" * 150 + "1" + ")" * 150,
]
S10 = ["-" * 5000 + "1", "-" * 900 + "1", "not " * 5000 + "1", "not " * 200 + "1", "1" + "**1" * 5000,
       "1" + "**1" * 300, "5" + "!%" * 400, "√" * 900 + "1", "5" + "°" * 900]  # fmt: skip
S12 = ["9" * 5000]
S13 = ["1+" * 500_000, "(" * 1_000_000, " " * 1_000_000, "\\frac" * 200_000]
S14 = ["1\x00+1", "\ud800", "1+\ud800", "sqrt\udfff(1)"]
S15 = ["ｅｘｅｃ(1)", "𝓮val(1)"]
S16 = [
    "1/0",
    "0/0",
    "5 % 0",
    "0^-1",
    "5 // 0",
    "mod(1, 0)",
    "1 / (1 - 1)",
    "1/sin(pi)",
]
S18 = [
    "sqrt(-4)",
    "(-8)^0.5",
    "log(0)",
    "asin(2)",
    "ln(-1)",
    "acos(-2)",
    "(-1)^pi",
    "log(2, 1)",
    "root(-16, 4)",
]
S19 = ["sum(range(10**12))", "max(*[1]*10**9)", "[0]*10**10"]
ATTACKS = [*S1, *S2, *S3, *S4, *S5, *S6, *S7, *S8, *S9, *S10, *S12, *S13, *S14, *S15, *S16, *S18, *S19]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: ascii(attack[:20]))
def test_s1_to_s19_every_attack_is_refused_in_one_line_in_time(attack: str) -> None:
    began = time.process_time()
    refusal(attack)
    assert time.process_time() - began < 0.1


def test_s1_an_unknown_function_names_what_is_allowed() -> None:
    for attack in S1:
        assert "allowed: numbers, + - * / ^" in refusal(attack)


def test_s2_attributes_are_not_in_the_grammar() -> None:
    for attack in S2:
        assert "attribute access" in refusal(attack)


@pytest.mark.parametrize("attack", [*S4, *S5, *S7, *S8])
def test_s4_s5_s7_s8_sizes_are_estimated_before_computing(attack: str) -> None:
    assert "result too large: more than 4000 digits" in refusal(attack)


def test_s6_bit_operators_are_named() -> None:
    for attack in S6:
        assert "bit operators are not supported" in refusal(attack)


def test_s9_s10_nesting_is_bounded_before_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_parsed", lambda _: pytest.fail("was parsed"))
    for attack in [*S9, S10[1], S10[5], S10[6], S10[7], S10[8]]:
        assert "too deeply nested" in refusal(attack)


def test_s9_fifty_levels_are_not_too_deep() -> None:
    assert evaluate("(" * 49 + "1" + ")" * 49) == "1"
    assert evaluate("-" * 48 + "1") == "1"


def test_s11_a_long_honest_sum() -> None:
    assert evaluate("1" + "+1" * 399) == "400"
    assert "expression too long" in refusal("1" + "+1" * 49_999)


def test_s11_a_long_sum_needs_no_deep_stack() -> None:
    def below(depth: int) -> str:
        return below(depth - 1) if depth else evaluate("1" + "-1*1" * 249)

    assert below(sys.getrecursionlimit() - 400) == "-248"


def test_s12_no_word_of_python_about_digits() -> None:
    for attack in [*S12, "9" * MAX_CHARS + "!", f"{'9' * 900}^{'9' * 90}"]:
        assert "sys." not in refusal(attack)
    assert evaluate("9" * MAX_CHARS).endswith("(1000 digits)")


def test_s13_a_megabyte_is_rejected_by_its_length() -> None:
    for attack in S13:
        began = time.process_time()
        refusal(attack)
        assert time.process_time() - began < 0.01


def test_s14_invisible_characters_are_ignored() -> None:
    assert evaluate("\ufeff1+1") == "2"
    assert evaluate("1\u200b+\u20601") == "2"


def test_s15_look_alike_names_are_unknown_functions() -> None:
    assert "unknown function 'exec'" in refusal(S15[0])
    assert "unknown function '𝓮val'" in refusal(S15[1])


def test_s16_division_by_zero() -> None:
    for attack in S16:
        assert "division by zero" in refusal(attack)


def test_s17_never_infinity_or_not_a_number() -> None:
    assert evaluate("1e308*10") == "1e+309"
    assert evaluate("1e400-1e400") == "0"
    assert evaluate("exp(1000)") == "1.97007111401705e+434"


def test_s18_no_real_result() -> None:
    for attack in S18:
        assert "no real result" in refusal(attack)


def test_s20_what_models_send_instead_of_an_expression() -> None:
    for empty in ("", "   ", "\n", "null", "?", "``", "=", '""'):
        assert "is empty" in refusal(empty)
    for wrapped in ('{"expression": "2+2"}', '"2+2"', "```2+2```", "'2+2'"):
        assert evaluate(wrapped) == "4"


def test_the_tree_is_walked_by_a_table_that_holds_no_more_than_it_needs() -> None:
    assert set(module._NODES) == {ast.Constant, ast.Name, ast.UnaryOp, ast.BinOp, ast.Call}


@pytest.mark.parametrize(
    "source",
    ["'a'", "1j", "True", "x", "~1", "1 << 2", "a.b", "f()(1)", "round(1, n=2)", "[1]", "sqrt(*pi)", "()"],
)
def test_the_walk_refuses_what_the_spelling_would_have_stopped(source: str) -> None:
    work = module._Work(source, [])
    with pytest.raises(ToolError):
        work.visit(ast.parse(source, mode="eval").body)


AUDIT = """
import sys, json
from react_agent.errors import ToolError
from react_agent.tools.calculator import evaluate
attacks = json.loads(sys.stdin.read())
for warm in ("sin(1) + 1/3", "sqrt(2)", "max(1,2)"):
    evaluate(warm)
events = []
sys.addaudithook(lambda name, args: events.append(name))
refused = 0
for attack in attacks:
    try:
        evaluate(attack)
    except ToolError:
        refused += 1
seen = sorted(set(events))
print(json.dumps({"refused": refused, "events": seen}))
"""


def test_s1_attacks_open_nothing_and_start_nothing(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AUDIT], input=json.dumps(ATTACKS), capture_output=True, text=True, check=True,
        cwd=str(tmp_path),
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["refused"] == len(ATTACKS)
    # The parser announces each text it is given; parsing is not running.
    assert set(found["events"]) <= {"compile"}
    assert os.listdir(str(tmp_path)) == []


HEAVY = [
    *ATTACKS,
    *(f"{start}{sign}{sign.join([part] * (900 // (len(part) + len(sign))))}"
      for start in ("7^4700", "1.5^0.3", "1/3")
      for sign in ("+", "*", "/", "//", " mod ")
      for part in ("1400!", "7^4700", "(3/7)^1000", "root(7^4700,3)", "comb(13280,6600)",
    "sin(1e29)", "1e3999",
                   "(10^3999+7)/(10^990+3)", "e", "gcd(7^4700,3^8000)", "(1+1e-30)^(10^30)")),
    "1400!" + "+1%" * 300,
    "lcm(" + ",".join(f"{10**9 + n}" for n in range(80)) + ")",
    "perm(1500,1400)" + "+perm(1500,1400)" * 50,
]  # fmt: skip

MEASURE = """
import sys, json, time, resource
from react_agent.errors import ToolError
from react_agent.tools.calculator import evaluate
texts = json.loads(sys.stdin.read())
evaluate("sin(1) + 1/3")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
worst, which = 0.0, ""
for text in texts:
    began = time.process_time()
    try:
        evaluate(text)
    except ToolError:
        pass
    spent = time.process_time() - began
    if spent > worst:
        worst, which = spent, text
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(json.dumps({"seconds": worst, "which": which[:80], "megabytes": grown}))
"""


def measured() -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=json.dumps(HEAVY), capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(os.name == "nt", reason="memory is measured with resource")
def test_the_worst_cases_stay_within_a_tenth_of_a_second_and_twenty_megabytes() -> None:
    found = measured()
    assert float(str(found["seconds"])) < 0.1, found
    assert float(str(found["megabytes"])) < 40, found


# Numbers


def reference(depth: int, chance: random.Random) -> tuple[str, Fraction]:
    """A random expression and its exact value. Raises ZeroDivisionError where it has none."""
    if depth == 0 or chance.random() < 0.2:
        return literal(chance)
    sign = chance.choice(["+", "-", "*", "/", "//", "mod", "^", "-u", "()"])
    left, a = reference(depth - 1, chance)
    if sign == "-u":
        return f"(-{left})", -a
    if sign == "()":
        return f"(({left}))", a
    if sign == "^":
        n = chance.randint(-3, 4)
        return f"(({left})^{n})" if n >= 0 else f"(({left})**({n}))", a**n
    right, b = reference(depth - 1, chance)
    values = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b,
              "//": lambda: Fraction(a // b), "mod": lambda: a % b}  # fmt: skip
    return f"({left} {sign} {right})", values[sign]()


def literal(chance: random.Random) -> tuple[str, Fraction]:
    kind = chance.randrange(4)
    whole = chance.randint(0, 10 ** chance.randint(1, 9))
    if kind == 0:
        return str(whole), Fraction(whole)
    if kind == 1:
        text = f"{whole}.{chance.randint(0, 9999):04d}"
        return text, Fraction(text)
    if kind == 2:
        return f"{whole:,}", Fraction(whole)
    return f"({whole}% * 1)", Fraction(whole, 100)  # alone after a plus it would mean something else


def agrees(text: str, value: Fraction) -> bool:
    """Whether a written result is the exact value, or its 15 digits."""
    shown = Fraction(text.split(maxsplit=1)[0])
    return shown == value or abs(shown - value) <= abs(value) * Fraction(1, 10**14) / 2


def differences(count: int, seed: int) -> tuple[int, int, list[str]]:
    """How many random expressions were compared, how many were exact, and those that differ."""
    chance = random.Random(seed)
    compared, exact, wrong = 0, 0, []
    while compared < count:
        try:
            text, value = reference(chance.randint(1, 5), chance)
        except ZeroDivisionError:
            continue
        if len(text) > MAX_CHARS:
            continue
        compared += 1
        said = evaluate(text)
        exact += said == written(value)
        if not agrees(said, value):
            wrong.append(f"{text} = {said}")
    return compared, exact, wrong


def test_random_expressions_agree_with_fractions() -> None:
    count = 100_000 if os.environ.get("REACT_LONG_TESTS") else 3_000
    compared, exact, wrong = differences(count, seed=1)
    assert wrong == []
    assert compared == count
    assert exact > count * 0.9


@given(st.text(max_size=60))
@example("1e")
@example("\\frac{{}")
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_number_or_one_line(text: str) -> None:
    said = said_of(text)
    assert "\n" not in said
    assert len(said) < 400
    if not said.startswith("refused: "):
        assert not re.search("inf|nan|j", said.split("[")[0])


PIECES = ["1", "2.5", "1,234", "(", ")", "+", "-", "*", "/", "^", "%", "!", " of ", " off ",
          "sqrt", "pi", "max(", ",",
          " mod ", "°", "e", "√", "²", "½", "x", "[", "]", "=", "$", "1e9", "9!", "\\frac{1}{2}",
    " ", "sin("]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=600, deadline=None)
def test_any_mixture_of_signs_gives_a_number_or_one_line(text: str) -> None:
    said = said_of(text)
    assert "\n" not in said
    assert "cannot be read" not in said, "the spelling let through what Python cannot parse"
    if not said.startswith("refused: "):
        assert re.fullmatch(r"-?\d+(\.\d+)?(e[+-]\d+)?( \(\d+ digits\))?( \[.*\])?", said)


def said_of(text: str) -> str:
    try:
        return evaluate(text)
    except ToolError as error:
        return f"refused: {error}"


@given(st.fractions(max_denominator=10**6))
@settings(max_examples=200, deadline=None)
def test_what_is_written_is_read_back_within_fifteen_digits(value: Fraction) -> None:
    assert agrees(written(value), value)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
@settings(max_examples=100, deadline=None)
def test_decimals_are_written_in_full(value: Decimal) -> None:
    assert Fraction(evaluate(f"{value:f}")) == Fraction(value)


@given(st.floats(min_value=-50, max_value=50, allow_subnormal=False))
@settings(max_examples=60, deadline=None)
def test_angles_agree_with_the_standard_library(angle: float) -> None:
    import math

    text = f"({angle!r})"
    for name in ("sin", "cos", "atan", "tanh"):
        said = float(evaluate(f"{name}{text}").split()[0])
        assert math.isclose(said, getattr(math, name)(angle), rel_tol=1e-9, abs_tol=1e-300)


def test_pi_is_pi() -> None:
    """Machin's formula, on whole numbers."""
    one = 10**110

    def arctangent_of_one_over(n: int) -> int:
        total = term = one // n
        k, sign = 3, -1
        while term:
            term //= n * n
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    digits = 4 * (4 * arctangent_of_one_over(5) - arctangent_of_one_over(239))
    assert str(digits)[: len(PI_TEXT) - 1] == PI_TEXT.replace(".", "")


def test_normalised_is_plain_python_spelling() -> None:
    assert normalised("17.5% of 2,340").text == "Percent( 17.5 ) * 2340"
    assert normalised("2(3+4)^2").text == "2 * ( 3 + 4 ) ** 2"
    assert normalised("√16 x 2").text == "sqrt( 16) * 2"
