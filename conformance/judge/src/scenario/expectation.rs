//! Expectations: the lines under `----`, and an observation in the same words.
//!
//! ```text
//! 201 uid=$sa                              an item: its head, and fields of its document
//!   secrets = [{"name": "$new"}]           a field on its own line (at least this; `==` for exactly this)
//!   Content-Type: application/json         a response header
//!   | ok                                   a line of a body that is not JSON
//! $r1 < $r2                                how two values that have names relate
//! nothing                                  no items at all
//! ...                                      any more items
//! ```
//!
//! All items have to be mentioned, in order; of an item only what is written has to match. [`Expectation::read`] gives the lines
//! as they should have been written; the expectation holds if they equal its own.

use super::field::{Field, written};
use super::words::words;
use crate::names::{Names, text};
use crate::observation::{Item, Observation};
use serde_json::Value;
use std::cmp::Ordering;

/// The lines under one `----`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Item { head: String, fields: Vec<Field> },
    Field(Field),
    Header { name: String, value: String },
    Text(String),
    Relation { left: String, operator: String, right: String },
    Nothing,
    AndSoOn,
}

impl Expectation {
    /// Reads the lines under `----`. The error comes with the index of its line.
    pub fn parse<S: AsRef<str>>(lines: &[S]) -> Result<Expectation, (usize, String)> {
        let mut parsed = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let line = line_of(line.as_ref()).map_err(|problem| (index, problem))?;
            let detail = matches!(line, Line::Field(_) | Line::Header { .. } | Line::Text(_));
            if detail && !parsed.iter().any(|line| matches!(line, Line::Item { .. })) {
                return Err((index, "an indented line belongs to an item, and none is open here".to_owned()));
            }
            parsed.push(line);
        }
        Ok(Expectation { lines: parsed })
    }

    /// The number of items that are expected, if there may be more (`...`).
    pub fn expected_items(&self) -> Option<usize> {
        let items = |lines: &[Line]| lines.iter().filter(|line| matches!(line, Line::Item { .. })).count();
        let open = self.lines.iter().position(|line| matches!(line, Line::AndSoOn))?;
        Some(items(&self.lines[..open]))
    }

    /// The lines in their canonical form.
    pub fn lines(&self) -> Vec<String> {
        let line = |line: &Line| match line {
            Line::Item { head, fields } => {
                let fields = fields.iter().map(|field| format!(" {field}"));
                format!("{head}{}", fields.collect::<String>())
            }
            Line::Field(field) => format!("  {}", field.print(true)),
            Line::Header { name, value } => format!("  {name}: {value}"),
            Line::Text(text) => format!("  | {text}").trim_end().to_owned(),
            Line::Relation { left, operator, right } => format!("${left} {operator} ${right}"),
            Line::Nothing => "nothing".to_owned(),
            Line::AndSoOn => "...".to_owned(),
        };
        self.lines.iter().map(line).collect()
    }

    /// The observation in the words of this expectation: a line that holds is repeated, one that does not gets the actual
    /// value, one without a counterpart is left out, unexpected items are added.
    pub fn read(&self, observation: &Observation, names: &mut Names) -> Vec<String> {
        let mut read = Vec::new();
        let mut items = observation.items.iter();
        let mut open: Option<(&Item, Vec<&str>)> = None;
        for line in &self.lines {
            if let Line::Item { head, fields } = line {
                read.extend(unread_text(open.take()));
                open = items.next().map(|item| (item, item.text.iter().flat_map(|text| text.lines()).collect()));
                read.extend(open.as_ref().map(|(item, _)| read_item(head, fields, item, names)));
                continue;
            }
            match (line, &mut open) {
                (Line::Relation { left, operator, right }, _) => read.push(read_relation(left, operator, right, names)),
                (Line::AndSoOn, _) => {
                    items.by_ref().for_each(drop);
                    read.push("...".to_owned());
                }
                (Line::Nothing, _) if observation.items.is_empty() => read.push("nothing".to_owned()),
                (Line::Field(field), Some((item, _))) => {
                    read.push(format!("  {}", read_field(field, item, names).print(true)));
                }
                (Line::Header { name, value }, Some((item, _))) => {
                    read.push(format!("  {name}: {}", read_header(name, value, item, names)));
                }
                (Line::Text(template), Some((_, text))) if !text.is_empty() => {
                    let actual = text.remove(0);
                    let same = names.matches_text(template, actual);
                    read.push(
                        format!("  | {}", if same { template.clone() } else { names.spell_text(actual) })
                            .trim_end()
                            .to_owned(),
                    );
                }
                _ => {}
            }
        }
        read.extend(unread_text(open));
        read.extend(items.map(|item| names.spell_text(&item.head)));
        read.extend(observation.problem.iter().map(|problem| format!("problem: {problem}")));
        read
    }
}

/// `observation` in the words of `expectation`. Without an expectation the command only has to succeed.
pub fn read(expectation: Option<&Expectation>, observation: &Observation, names: &mut Names) -> Vec<String> {
    if let Some(expectation) = expectation {
        return expectation.read(observation, names);
    }
    let refused = observation.items.iter().filter(|_| observation.refused);
    let refused = refused.map(|item| match item.document["message"].as_str() {
        Some(message) => format!("{}: {message}", item.head),
        None => item.head.clone(),
    });
    refused.chain(observation.problem.iter().map(|problem| format!("problem: {problem}"))).collect()
}

fn line_of(line: &str) -> Result<Line, String> {
    if let Some(detail) = line.strip_prefix("  ") {
        return Ok(match (detail.strip_prefix('|'), header(detail)) {
            (Some(text), _) => Line::Text(text.strip_prefix(' ').unwrap_or(text).to_owned()),
            (None, Some((name, value))) => Line::Header { name, value },
            (None, None) => Line::Field(
                Field::parse(detail)?
                    .ok_or_else(|| format!("expected `path = value`, `Header: value` or `| text`, not {detail:?}"))?,
            ),
        });
    }
    let words = words(line)?;
    if let [left, operator, right] = &words[..]
        && let ("<" | "<=" | "==" | "!=", Some(left), Some(right)) =
            (operator.as_str(), left.strip_prefix('$'), right.strip_prefix('$'))
    {
        return Ok(Line::Relation { left: left.to_owned(), operator: operator.clone(), right: right.to_owned() });
    }
    match line {
        "nothing" => return Ok(Line::Nothing),
        "..." => return Ok(Line::AndSoOn),
        _ => {}
    }
    let mut head = Vec::new();
    let mut fields = Vec::new();
    for word in words {
        match Field::parse(&word)? {
            Some(field) => fields.push(field),
            None if fields.is_empty() => head.push(word),
            None => return Err(format!("{word:?} stands behind a field; only fields may")),
        }
    }
    Ok(Line::Item { head: head.join(" "), fields })
}

/// `Header-Name: value`. Headers begin with a capital, paths of Kubernetes objects do not.
pub fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(": ")?;
    let proper = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-.%".contains(c));
    proper.then(|| (name.to_owned(), value.to_owned()))
}

fn read_item(head: &str, fields: &[Field], item: &Item, names: &mut Names) -> String {
    let mut line = if names.matches_text(head, &item.head) { head.to_owned() } else { names.spell_text(&item.head) };
    for field in fields {
        line.push(' ');
        line.push_str(&read_field(field, item, names).print(false));
    }
    line
}

fn read_field(field: &Field, item: &Item, names: &mut Names) -> Field {
    if field.holds(&item.document, names) { field.clone() } else { field.observed(&item.document, names) }
}

fn read_header(name: &str, value: &str, item: &Item, names: &mut Names) -> String {
    let actual = item.headers.get(&name.to_ascii_lowercase()).map_or("absent", String::as_str);
    if names.matches_text(value, actual) { value.to_owned() } else { names.spell_text(actual) }
}

/// The remaining lines of a text body; empty if the expectation mentions no line of it.
fn unread_text(open: Option<(&Item, Vec<&str>)>) -> Vec<String> {
    let (item, unread) = match open {
        Some(open) => open,
        None => return Vec::new(),
    };
    let asked = item.text.as_ref().is_some_and(|text| text.lines().count() > unread.len());
    let unread = if asked { unread } else { Vec::new() };
    unread.into_iter().map(|line| format!("  | {line}").trim_end().to_owned()).collect()
}

fn read_relation(left: &str, operator: &str, right: &str, names: &Names) -> String {
    let (Some(left_value), Some(right_value)) = (names.value(left), names.value(right)) else {
        let unbound = if names.value(left).is_none() { left } else { right };
        return format!("problem: ${unbound} has no value");
    };
    let order = compare(left_value, right_value);
    let holds = match operator {
        "<" => order == Ordering::Less,
        "<=" => order != Ordering::Greater,
        "==" => order == Ordering::Equal,
        _ => order != Ordering::Equal,
    };
    if holds {
        return format!("${left} {operator} ${right}");
    }
    format!(
        "problem: not ${left} {operator} ${right}: {} and {}",
        written(Some(left_value)),
        written(Some(right_value))
    )
}

/// The order of two values: numbers (and revisions, numbers in quotes) by size, all else (times among it) by text.
fn compare(left: &Value, right: &Value) -> Ordering {
    let (left, right) = (text(left), text(right));
    match (left.parse::<i128>(), right.parse::<i128>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        _ => left.cmp(&right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(lines: &[&str], items: Vec<Item>) -> Vec<String> {
        let mut names = Names::default();
        Expectation::parse(lines).unwrap().read(&items.into(), &mut names)
    }

    #[test]
    fn what_holds_is_repeated() {
        let created =
            || Item::new("201", json!({"metadata": {"uid": "u", "resourceVersion": "9"}, "data": {"k": "v"}}));
        let updated = || Item::new("200", json!({"metadata": {"uid": "u", "resourceVersion": "10"}}));
        let lines =
            ["201 uid=$u rv=$r1", "  data == {\"k\":\"v\"}", "  spec = absent", "200 uid=$u rv=$r2", "$r1 < $r2"];
        assert_eq!(read(&lines, vec![created(), updated()]), lines);
        let text = Item {
            text: Some("ok\nfine".into()),
            headers: [("a-b".into(), "c".into())].into(),
            ..Item::new("200", Value::Null)
        };
        let lines = ["200", "  A-B: c", "  | ok", "  | fine"];
        assert_eq!(read(&lines, vec![text]), lines);
        assert_eq!(read(&["nothing"], vec![]), ["nothing"]);
        assert_eq!(read(&["201", "..."], vec![created(), updated()]), ["201", "..."]);
    }

    #[test]
    fn what_does_not_hold_is_replaced() {
        let item = || Item::new("409 Conflict", json!({"code": 409, "metadata": {"resourceVersion": "7"}}));
        for (lines, expected) in [
            (&["201 code=201"][..], &["409 Conflict code=409"][..]),
            (&["409 Conflict", "  message = no"], &["409 Conflict", "  message = absent"]),
            (&["409 Conflict rv=$r", "$r < $r"], &["409 Conflict rv=$r", "problem: not $r < $r: \"7\" and \"7\""]),
            (&["409 Conflict", "200 code=1"], &["409 Conflict"]),
            (&["nothing"], &["409 Conflict"]),
        ] {
            assert_eq!(read(lines, vec![item()]), expected);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for lines in [&["  a = b"][..], &["200 a=b c"], &["200", "  no field"], &["200 a=["]] {
            assert!(Expectation::parse(lines).is_err(), "{lines:?}");
        }
    }
}
