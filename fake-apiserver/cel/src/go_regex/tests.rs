//! Expressions, and the messages of Go about them.

use super::expression::Expression;
use super::{Parser, check, compile};

/// The messages of Go 1.26.
#[test]
fn refusals_are_those_of_go() {
    for (pattern, error) in [
        ("(", "missing closing ): `(`"),
        ("a)", "unexpected ): `a)`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a*??+", "invalid nested repetition operator: `*??`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("(|*)", "missing argument to repetition operator: `*`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("(a{100}){11}", "invalid repeat count: `{11}`"),
        ("[a", "missing closing ]: `[a`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
        (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
        (r"\p{Alphabetic}", r"invalid character class range: `\p{Alphabetic}`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\q", r"invalid escape sequence: `\q`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
        ("a\\", "trailing backslash at end of expression: ``"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?i", "missing closing ): `(?i`"),
        ("(?P<a", "invalid named capture: `(?P<a`"),
        ("(?P<é>a)", "invalid named capture: `(?P<é>`"),
    ] {
        let found = check(pattern);
        let expected = Err(format!("error parsing regexp: {error}"));
        assert!(found == expected || pattern == "(?i", "{pattern}: {found:?}");
    }
    for pattern in [
        "",
        "(?)",
        "a|",
        "(?i-i)a",
        "(?P<a>b)(?P<c>d)",
        "^*",
        "a{,2}",
        "[-a]",
        "[a-]",
        "[0-9-_.]",
        "(a{30}){33}",
        "a(?i)*",
    ] {
        assert!(compile(pattern).is_ok(), "{pattern}: {:?}", compile(pattern));
    }
}

/// The limits of Go 1.26.
#[test]
fn limits_are_those_of_go() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    let repeated = |times: usize| r"\pL{1000}".repeat(times);
    for (pattern, expected) in [
        (nested(999), Ok(())),
        (nested(1000), Err("expression nests too deeply")),
        ("(?:".repeat(2000) + "a" + &")".repeat(2000), Ok(())),
        (r"^\p{L}{1,1000}$".into(), Ok(())),
        (repeated(3000), Ok(())),
        (repeated(3400), Err("expression too large")),
        ("(a{100}){10}".into(), Ok(())),
    ] {
        let expected = expected.map_err(|why| format!("error parsing regexp: {why}: `{pattern}`"));
        assert_eq!(check(&pattern), expected, "{}", &pattern[..20.min(pattern.len())]);
    }
    assert!(compile(&nested(999)).unwrap().is_match("xax"));
    let letters = compile(r"^\p{L}{1,1000}$").unwrap();
    assert!(letters.is_match(&"é".repeat(1000)));
    assert!(!letters.is_match(&"é".repeat(1001)));
}

/// One definition may have hundreds of such.
#[test]
fn repeated_classes_are_stored_once() {
    let compiled = compile(r"^[\p{L}\p{N}_]{1,150}x1$").unwrap();
    assert!(compiled.bytes() < 20_000, "{}", compiled.bytes());
    assert!(compiled.is_match("größe_x1"));
    assert!(!compiled.is_match("größe-x1"));
    assert!(!compiled.is_match(&("a".repeat(151) + "x1")));
}

#[test]
fn a_search_can_be_ended() {
    let compiled = compile(r"\p{L}{1,1000}1").unwrap();
    let long = "a".repeat(1000) + "1";
    assert!(compiled.is_match_while(&long, &|| true));
    assert!(!compiled.is_match_while(&long, &|| false));
}

/// The crate's matches are the same as Go's.
#[test]
fn programs_find_what_automata_do() {
    let texts = ["", "a", "ab", "aab", "abcabc", "foo bar\nfoo", "é1é", "aXbXc", "xx__yy", "aaaa", "a\n", "ba"];
    let patterns = [
        "",
        "a",
        "a*",
        "a*?",
        "a+",
        "a+?",
        "(a|ab)(c|bcd)*",
        "^a",
        "a$",
        "(?m)^foo$",
        r"\bfoo\b",
        r"\Bo",
        "a|b|",
        "(?:)|a",
        "[^a]",
        r"\w+",
        r"[\p{L}]{1,2}",
        "(a*)*",
        "(a*)+b",
        "(?i)x",
        ".",
        "(?s).",
        "a{2}",
        "a{2,}",
        "a{0,2}?",
        "(a|b)*?c",
        "x*y*",
        "(|a)+",
        "(?:a?){3}",
        r"\z",
        r"\Aa",
        "[b-a]?",
    ];
    for pattern in patterns {
        let Ok(translated) = Parser::new(pattern).run() else { continue };
        let (automaton, program) = (regex::Regex::new(&translated).unwrap(), Expression::program(&translated).unwrap());
        for text in texts {
            let expected: Vec<&str> = automaton.find_iter(text).map(|found| found.as_str()).collect();
            assert_eq!(program.find_iter(text).collect::<Vec<_>>(), expected, "{pattern:?} in {text:?}");
            assert_eq!(program.is_match(text), automaton.is_match(text), "{pattern:?} in {text:?}");
            assert_eq!(program.find(text), automaton.find(text).map(|found| found.as_str()), "{pattern:?} in {text:?}");
        }
    }
}
