//! Paths of fields of a schema: `.spec.replicas`, `['spec']['labels']`.
//!
//! Follows `ValidFieldPath` of `pkg/apiserver/schema/cel/validation.go` of `k8s.io/apiextensions-apiserver` (v0.37.1), which
//! panics where a path leads through `additionalProperties: true`; here it refers to no valid field then.

use tree::Value;

/// A path and the schema there.
pub struct Found<'a> {
    /// The first field.
    pub root: String,
    /// The path as in findings.
    pub path: String,
    /// The schema there, unless it is `true`.
    pub schema: Option<&'a Value>,
}

const NO_FIELD: &str = "does not refer to a valid field";
const END: &str = "unexpected end of JSON path";

/// Finds the field at a path below a schema; brackets are allowed with `brackets`.
///
/// # Errors
/// If the path is malformed, or the schema has no such field.
pub fn find<'a>(path: &str, schema: &'a Value, brackets: bool) -> Result<Found<'a>, String> {
    let mut found = Found { root: String::new(), path: String::new(), schema: Some(schema) };
    let mut tokens = tokens(path);
    while let Some(token) = tokens.next() {
        match token {
            "[" if !brackets => return Err("array notation is not allowed".into()),
            "[" => {
                let quoted = tokens.next().ok_or(END)?;
                let name = quoted.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
                let name = name.ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
                found.descend(&unescaped(name)?)?;
                match tokens.next().ok_or(END)? {
                    "]" => {}
                    other => return Err(format!("expected ] but got {other}")),
                }
            }
            "." => found.descend(tokens.next().ok_or(END)?)?,
            other => return Err(format!("expected [ or . but got: {other}")),
        }
    }
    Ok(found)
}

impl Found<'_> {
    fn descend(&mut self, name: &str) -> Result<(), String> {
        let schema = self.schema.ok_or(NO_FIELD)?;
        let (segment, below) = if let Some(properties) = schema.get("properties") {
            let dot = if self.path.is_empty() { "" } else { "." };
            (format!("{dot}{name}"), Some(properties.get(name).ok_or(NO_FIELD)?))
        } else if schema.get("additionalProperties").is_some() {
            (format!("[{name}]"), schema.get("additionalProperties").filter(|schema| schema.is_object()))
        } else {
            return Err(NO_FIELD.into());
        };
        if self.path.is_empty() {
            self.root = segment.clone();
        }
        self.path.push_str(&segment);
        self.schema = below;
        Ok(())
    }
}

/// The delimiters, and the texts and quotes between them.
fn tokens(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let end = match bytes.first()? {
            b'\'' => (1..bytes.len()).find(|at| bytes[*at] == b'\'' && bytes[at - 1] != b'\\').map(|at| at + 1),
            b'.' | b'[' | b']' => Some(1),
            _ => rest.find(['.', '[', ']']),
        };
        let token;
        (token, rest) = rest.split_at(end.unwrap_or(rest.len()));
        Some(token)
    })
}

/// `unescapeSingleQuote`.
fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            plain.push(char);
            continue;
        }
        plain.push(match chars.next() {
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(char @ ('\'' | '\\')) => char,
            Some(other) => return Err(format!("invalid string literal: invalid escape char \\{other}")),
            None => '\\',
        });
    }
    Ok(plain)
}
