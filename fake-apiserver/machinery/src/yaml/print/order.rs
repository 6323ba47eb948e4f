//! The order of keys: `keyList.Less` of go.yaml.in/yaml/v2 v2.4.4 (sorter.go). Numbers within keys are compared as numbers, and letters follow all
//! else. That is not transitive (`a10`, `a1b`, `a2`): what Go prints of such keys differs from time to time, and the standard library's sort may panic.

use regex::Regex;
use std::sync::LazyLock;
use tree::{Map, Text, Value};

type Field<'t> = (&'t Text, &'t Value);

/// The fields of an object in the order of their keys.
pub(super) fn in_order(fields: &Map) -> Vec<Field<'_>> {
    sorted(fields.iter().collect())
}

/// Sorts by merging, which is stable.
fn sorted(mut fields: Vec<Field<'_>>) -> Vec<Field<'_>> {
    if fields.is_sorted_by(|one, other| !is_less(other.0, one.0)) {
        return fields;
    }
    let right = sorted(fields.split_off(fields.len() / 2));
    let left = sorted(fields);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let next = if is_less(other.0, one.0) { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left.chain(right));
    merged
}

fn is_less(one: &str, other: &str) -> bool {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    let common: usize = same.map(|(letter, _)| letter.len_utf8()).sum();
    let (before, one, other) = (&one[..common], &one[common..], &other[common..]);
    let (Some(a), Some(b)) = (one.chars().next(), other.chars().next()) else { return one.len() < other.len() };
    match (is_letter(a), is_letter(b)) {
        (true, true) => return a < b,
        (false, false) => {}
        (_, is_letter) => return is_letter,
    }
    // Zeros are digits of the number before, if there is one.
    let follows = || before.chars().rev().take_while(|letter| is_digit(*letter)).any(|letter| letter != '0');
    let begin = i64::from((a == '0' || b == '0') && follows());
    let ((a_number, a_digits), (b_number, b_digits)) = (number(begin, one), number(begin, other));
    (a_number, a_digits, a) < (b_number, b_digits, b)
}

/// The number that the digits at the beginning of a text continue, and how many digits these are.
fn number(begin: i64, text: &str) -> (i64, usize) {
    let digits = text.chars().take_while(|letter| is_digit(*letter));
    digits.fold((begin, 0), |(number, count), digit| {
        let digit = i64::from(u32::from(digit)) - i64::from(u32::from('0'));
        (number.wrapping_mul(10).wrapping_add(digit), count + 1)
    })
}

fn is_letter(letter: char) -> bool {
    static LETTER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\p{L}$").expect("a constant pattern"));
    if letter.is_ascii() { letter.is_ascii_alphabetic() } else { LETTER.is_match(letter.encode_utf8(&mut [0; 4])) }
}

fn is_digit(letter: char) -> bool {
    static DIGIT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\p{Nd}$").expect("a constant pattern"));
    if letter.is_ascii() { letter.is_ascii_digit() } else { DIGIT.is_match(letter.encode_utf8(&mut [0; 4])) }
}
