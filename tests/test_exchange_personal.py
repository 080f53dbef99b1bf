"""Personal data and keys in text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.exchange.personal import computed_in, mask


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ann.b+c@mail.example.co.uk", "[mail]"),
        ("(bob@x.org)", "([mail])"),
        ("+49 30 1234567", "[phone]"),
        ("call +4930123456 now", "call [phone] now"),
        ("+1-202-555-0175", "[phone]"),
        ("+44 (20) 7946 0958", "[phone]"),
        ("(202) 555-0175", "[phone]"),
        ("phone: 030 1234567", "phone: [phone]"),
        ("Telefon 06 12 34 56 78", "Telefon [phone]"),
        ("手机号是13812345678", "手机号是[phone]"),
        ("card 4111 1111 1111 1111", "card [card]"),
        ("4111-1111-1111-1111,", "[card],"),
        ("my number 4111111111111111", "my number [card]"),
        ("3782 822463 10005", "[card]"),
        ("DE89370400440532013000", "[iban]"),
        ("GB82 WEST 1234 5698 7654 32", "[iban]"),
        ("192.168.1.20:8080", "[ip]:8080"),
        ("at 2001:db8::1.", "at [ip]."),
        ("https://bob:hunter2@x.org/a", "https://[password]@x.org/a"),
        ("key sk-abcdefghijklmnopqrstu", "key [key]"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY----- x", "[private key] x"),
        (
            '{"to": "ann@example.org", "iban": "DE89 3704 0044 0532 0130 00"}',
            '{"to": "[mail]", "iban": "[iban]"}',
        ),
    ],
)
def test_personal_data_is_masked(text: str, wanted: str) -> None:
    masked, counts = mask(text)
    assert masked == wanted
    assert sum(counts.values()) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "2340 * 17.5 / 100",
        "(12 + 7) * 3",
        "2+4930123456",
        "5 + 4930123456 * 2",
        "4111111111111111 * 2",
        "2 - 4111111111111111",
        "4111111111111111 / 3 = 1370370370370370.33",
        "sqrt(4111111111111111)",
        "4111111111111111%",
        "4111111111111112",
        "555-123-4567",
        "202-555-0175",
        "1.234.567,89",
        "12,345,678.90",
        "3.14159265358979",
        "1e+4930123456",
        "The sum is 12345678901234567890.",
        "phone costs 1234567 euro",
        "hotel 1234567",
        "DE88370400440532013000",
        "2024-03-05 09:12:44 Tuesday America/Lima",
        "12:30:45 abc::def std::vector",
        "127.0.0.1 ::1 0.0.0.0",
        "version 3.11.7, 1.2.3.4.5",
        "a @ b, @decorator, user@localhost",
        "0000000000000000",
    ],
)
def test_plain_numbers_and_other_text_stay(text: str) -> None:
    assert mask(text) == (text, {})


def test_what_the_run_has_calculated_stays() -> None:
    computed = computed_in(["4111111111111111", '{"expression": "+12345678901"}'])
    for text in ("It is 4111111111111111.", "+12345678901", "17% of 4111111111111111"):
        assert mask(text, computed)[0] == text


@given(
    st.lists(
        st.tuples(st.integers(0, 10**19), st.sampled_from(["+", "*", "/", " - ", " + ", "^", " × "])),
        min_size=1,
    )
)
def test_no_calculation_is_masked(terms: list[tuple[int, str]]) -> None:
    text = "".join(f"{number}{sign}" for number, sign in terms) + "2"
    assert mask(f"What is {text}?")[0] == f"What is {text}?"


@given(st.text(max_size=300))
def test_masking_twice_is_masking_once(text: str) -> None:
    once, _ = mask(text)
    assert mask(once)[0] == once


@pytest.mark.parametrize(
    "piece", ["a", "1", "a.", "1 ", "+1 ", ":", "f:", "a@", "AB12", "1.", "-", "(", "x://", "tel "]
)
def test_long_texts_take_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    mask(text)
    assert time.process_time() - began < 2
