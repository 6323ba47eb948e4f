//! Names of fields as expressions write them.
//!
//! Port of `pkg/cel/escaping.go` of k8s.io/apiserver v0.37.1.

/// The reserved words.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a name is a reserved word, which no identifier may be (`celReserved`).
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// A name as an identifier of an expression, if it can be one: `a.b` is `a__dot__b`.
#[must_use]
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let (escaped, length) = match c {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            c if c.is_ascii_alphanumeric() || c == '_' => (&rest[..1], 1),
            _ => return None,
        };
        out.push_str(escaped);
        rest = &rest[length..];
    }
    Some(out)
}

/// The name that an identifier stands for, if its escapes are any.
#[must_use]
pub fn unescape(escaped: &str) -> Option<String> {
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.find("__") {
        let inner = &rest[at + 2..];
        let end = inner.find('_').filter(|end| *end > 0 && inner[*end..].starts_with("__"));
        let Some(end) = end else {
            // The first of these underscores begins no escape; the second may.
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        };
        out.push_str(&rest[..at]);
        out.push_str(match &inner[..end] {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            word if is_reserved(word) && end + 4 == escaped.len() => word,
            _ => return None,
        });
        rest = &inner[end + 2..];
    }
    out.push_str(rest);
    Some(out)
}
