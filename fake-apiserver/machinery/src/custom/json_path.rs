//! JSONPath as in Kubernetes: single expressions such as `.status.conditions[?(@.type=="Ready")].status`, which select
//! values in an object.
//!
//! Follows `k8s.io/client-go/util/jsonpath` (v0.37.1), with missing keys allowed.

use std::borrow::Cow;
use std::cmp::Ordering;
use tree::Value;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct JsonPath(Vec<Step>);

#[derive(Debug, Clone)]
enum Step {
    Field(String),
    /// All items or members.
    Wildcard,
    /// The value itself and all values below it.
    Descend,
    Slice(Slice),
    Union(Vec<JsonPath>),
    Filter {
        left: JsonPath,
        /// The comparison; `None` checks that the left side selects something.
        comparison: Option<(Comparison, JsonPath)>,
    },
    /// A constant in a filter.
    Constant(Value),
}

/// `[start:end:step]`; an index is a slice of one item.
#[derive(Debug, Clone, Copy)]
struct Slice {
    start: i64,
    end: Option<i64>,
    step: i64,
    /// Whether it was written as an index.
    index: bool,
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An error of an expression in an object: it selects items of a value that is not a list, or compares incomparable values.
#[derive(Debug)]
pub struct Mismatch;

type Found<'v> = Result<Vec<Cow<'v, Value>>, Mismatch>;

impl JsonPath {
    /// Parses an expression; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<JsonPath> {
        let mut steps = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let after = &rest[first.len_utf8()..];
            rest = match first {
                _ if rest.starts_with("[?(") => filter(&rest[3..], &mut steps)?,
                _ if rest.starts_with("..") => {
                    steps.push(Step::Descend);
                    let after = &rest[2..];
                    if after.starts_with(|next: char| next == '_' || next.is_alphanumeric()) {
                        field(after, &mut steps)
                    } else {
                        after
                    }
                }
                ' ' | '@' | '$' => after,
                '[' => {
                    let end = after.find(']')?;
                    brackets(&after[..end], &mut steps)?;
                    &after[end + 1..]
                }
                '.' => field(after, &mut steps),
                '"' | '\'' => {
                    let end = closing_quote(after, first)?;
                    steps.push(Step::Constant(unquote(&after[..end])?.into()));
                    &after[end + 1..]
                }
                '+' | '-' | '0'..='9' => {
                    let end = after.find(|next: char| next != '.' && !next.is_ascii_digit()).unwrap_or(after.len());
                    steps.push(Step::Constant(number(&rest[..end + 1])?));
                    &after[end..]
                }
                _ => {
                    let end = rest.find(is_terminator).unwrap_or(rest.len());
                    let constant = rest[..end].parse::<bool>().ok()?;
                    steps.push(Step::Constant(constant.into()));
                    &rest[end..]
                }
            };
        }
        Some(JsonPath(steps))
    }

    /// The first of the values that it selects.
    pub fn first<'v>(&self, object: &'v Value) -> Option<Cow<'v, Value>> {
        self.find(object).ok()?.into_iter().next()
    }

    /// The values that it selects.
    ///
    /// # Errors
    /// If the object does not have the form that the expression requires.
    pub fn find<'v>(&self, object: &'v Value) -> Found<'v> {
        let mut found = vec![Cow::Borrowed(object)];
        for step in &self.0 {
            let mut next = Vec::new();
            for value in &found {
                match value {
                    Cow::Borrowed(value) => step.take(value, &mut next)?,
                    // Constants have no values below them.
                    Cow::Owned(_) => return Err(Mismatch),
                }
            }
            found = next;
        }
        Ok(found)
    }
}

impl Step {
    fn take<'v>(&self, value: &'v Value, found: &mut Vec<Cow<'v, Value>>) -> Result<(), Mismatch> {
        match self {
            _ if value.is_null() && !matches!(self, Step::Constant(_) | Step::Filter { .. }) => {}
            Step::Field(name) => found.extend(value.get(name).map(Cow::Borrowed)),
            Step::Wildcard => found.extend(children(value).map(Cow::Borrowed)),
            Step::Descend => descend(value, found),
            Step::Slice(slice) => found.extend(slice.of(value.as_array().ok_or(Mismatch)?)?.map(Cow::Borrowed)),
            Step::Union(paths) => {
                for path in paths {
                    found.extend(path.find(value)?);
                }
            }
            Step::Filter { left, comparison } => {
                for item in value.as_array().ok_or(Mismatch)? {
                    if passes(item, left, comparison.as_ref())? {
                        found.push(Cow::Borrowed(item));
                    }
                }
            }
            Step::Constant(constant) => found.push(Cow::Owned(constant.clone())),
        }
        Ok(())
    }
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(|members| members.values()))
}

fn descend<'v>(value: &'v Value, found: &mut Vec<Cow<'v, Value>>) {
    if children(value).next().is_some() {
        found.push(Cow::Borrowed(value));
        children(value).for_each(|child| descend(child, found));
    }
}

impl Slice {
    fn of(self, items: &[Value]) -> Result<impl Iterator<Item = &Value>, Mismatch> {
        let length = i64::try_from(items.len()).map_err(|_| Mismatch)?;
        let from_end = |place: i64| if place < 0 { place + length } else { place };
        let start = from_end(self.start);
        let end = match self.end {
            None => length,
            // The item after the last one, counted from the end.
            Some(0) if self.index => length,
            Some(end) => from_end(end),
        };
        let range = match () {
            () if start == end => 0..0,
            () if (0..length).contains(&start) && (start..=length).contains(&end) => start..end,
            () => return Err(Mismatch),
        };
        let [start, end, step] = [range.start, range.end, self.step].map(|place| usize::try_from(place).unwrap_or(0));
        if step == 0 {
            return Err(Mismatch);
        }
        Ok(items[start..end].iter().step_by(step))
    }
}

fn passes(item: &Value, left: &JsonPath, comparison: Option<&(Comparison, JsonPath)>) -> Result<bool, Mismatch> {
    let found = left.find(item);
    let Some((comparison, right)) = comparison else { return Ok(found.is_ok_and(|found| !found.is_empty())) };
    let (lefts, rights) = (found?, right.find(item)?);
    match (&lefts[..], &rights[..]) {
        ([], _) | (_, []) => Ok(false),
        ([left], [right]) => compare(*comparison, left, right),
        _ => Err(Mismatch),
    }
}

/// Compares scalars of one kind; an integer and a float, or a list and any value, are a mismatch.
fn compare(comparison: Comparison, left: &Value, right: &Value) -> Result<bool, Mismatch> {
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => {
            return match comparison {
                Comparison::Equal => Ok(left == right),
                Comparison::NotEqual => Ok(left != right),
                _ => Err(Mismatch),
            };
        }
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, None) => left.as_f64().partial_cmp(&right.as_f64()).ok_or(Mismatch)?,
            _ => return Err(Mismatch),
        },
        _ => return Err(Mismatch),
    };
    Ok(match comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    })
}

/// Parses a field's name, and returns the rest of the text.
fn field<'t>(text: &'t str, steps: &mut Vec<Step>) -> &'t str {
    let mut escaped = false;
    let end = text.find(|next: char| {
        let ends = !escaped && is_terminator(next);
        escaped = !escaped && next == '\\';
        ends
    });
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    steps.push(if name == "*" { Step::Wildcard } else { Step::Field(name.replace('\\', "")) });
    rest
}

fn is_terminator(next: char) -> bool {
    matches!(next, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}

/// Parses the text between brackets.
fn brackets(text: &str, steps: &mut Vec<Step>) -> Option<()> {
    if text.contains(',') {
        let paths = text.split(',').map(|part| JsonPath::parse(&format!("[{}]", part.trim_matches(' '))));
        steps.push(Step::Union(paths.collect::<Option<_>>()?));
        return Some(());
    }
    if let Some(key) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        let rest = field(key, steps);
        steps.extend(JsonPath::parse(rest)?.0);
        return Some(());
    }
    let text = if text == "*" { ":" } else { text };
    let parts: Vec<&str> = text.split(':').collect();
    let place = |part: &str| if part.is_empty() { Some(None) } else { part.parse::<i64>().ok().map(Some) };
    let slice = match parts[..] {
        [index] => {
            let start = index.parse::<i64>().ok()?;
            Slice { start, end: Some(start.checked_add(1)?), step: 1, index: true }
        }
        [start, end] => Slice { start: place(start)?.unwrap_or(0), end: place(end)?, step: 1, index: false },
        [start, end, step] => {
            let step = place(step)?.unwrap_or(1);
            Slice { start: place(start)?.unwrap_or(0), end: place(end)?, step, index: false }
        }
        _ => return None,
    };
    steps.push(Step::Slice(slice));
    Some(())
}

/// Parses a filter, and returns the rest of the text.
fn filter<'t>(text: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    let mut quote = None;
    let mut end = None;
    let mut previous = ' ';
    for (at, next) in text.char_indices() {
        match (quote, next) {
            (None, '"' | '\'') => quote = Some(next),
            (Some(open), next) if next == open && previous != '\\' => quote = None,
            (None, ')') => {
                end = Some(at);
                break;
            }
            _ => {}
        }
        previous = next;
    }
    let (condition, rest) = text.split_at(end?);
    let rest = rest.strip_prefix(")]")?;
    let is_operator = |next: char| matches!(next, '!' | '<' | '>' | '=');
    let step = match condition.find(is_operator).filter(|at| *at > 0) {
        None => Step::Filter { left: JsonPath::parse(condition)?, comparison: None },
        Some(at) => {
            let (left, right) = condition.split_at(at);
            let length = right.find(|next| !is_operator(next)).unwrap_or(right.len());
            let comparison = match &right[..length] {
                "==" => Comparison::Equal,
                "!=" => Comparison::NotEqual,
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterOrEqual,
                _ => return None,
            };
            let right = JsonPath::parse(&right[length..])?;
            Step::Filter { left: JsonPath::parse(left)?, comparison: Some((comparison, right)) }
        }
    };
    steps.push(step);
    Some(rest)
}

fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut previous = ' ';
    text.char_indices().find_map(|(at, next)| {
        let closes = next == quote && previous != '\\';
        previous = next;
        closes.then_some(at)
    })
}

/// The text between quotes, with those of Go's escapes that JSON has, too, and `\'`.
fn unquote(text: &str) -> Option<String> {
    if !text.contains('\\') {
        return Some(text.into());
    }
    let inner = text.replace("\\'", "'").replace('"', "\\\"").replace("\\\\\"", "\\\"");
    serde_json::from_str(&format!("\"{inner}\"")).ok()
}

fn number(text: &str) -> Option<Value> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let float = || Some(tree::Number::from_f64(text.parse().ok()?)?.into());
    text.parse::<i64>().map(Value::from).ok().or_else(float)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn expressions_lead_to_values() {
        let object = json!({
            "spec": {"replicas": 3, "a.b": "dotted", "list": [1, 2, 3, 4], "empty": null},
            "status": {"conditions": [{"type": "Ready", "status": "True", "n": 1}, {"type": "Synced", "status": "False", "n": 2}]},
        });
        let table = [
            (".spec.replicas", json!([3])),
            ("$.spec.replicas", json!([3])),
            (".spec.a\\.b", json!(["dotted"])),
            (".spec['a\\.b']", json!(["dotted"])),
            (".spec.missing.deeper", json!([])),
            (".spec.empty", json!([null])),
            (".spec.empty.deeper", json!([])),
            (".spec.list[0]", json!([1])),
            (".spec.list[-1]", json!([4])),
            (".spec.list[1:3]", json!([2, 3])),
            (".spec.list[::2]", json!([1, 3])),
            (".spec.list[*]", json!([1, 2, 3, 4])),
            (".spec.list[0,2]", json!([1, 3])),
            (".status.conditions[?(@.type==\"Ready\")].status", json!(["True"])),
            (".status.conditions[?(@.type=='Synced')].status", json!(["False"])),
            (".status.conditions[?(@.n>1)].type", json!(["Synced"])),
            (".status.conditions[?(@.missing)].type", json!([])),
            (".status.conditions[?(@.n)].type", json!(["Ready", "Synced"])),
            ("..type", json!(["Ready", "Synced"])),
            (".status.conditions[*].type", json!(["Ready", "Synced"])),
        ];
        for (path, expected) in table {
            let found = JsonPath::parse(path).and_then(|path| path.find(&object).ok());
            assert_eq!(json!(found), expected, "{path}");
        }
        for path in [".spec.list[9]", ".spec.replicas[0]", ".spec[?(@.a==1)]", ".status.conditions[?(@.n=='1')]"] {
            assert!(JsonPath::parse(path).is_some_and(|path| path.find(&object).is_err()), "{path}");
        }
        for path in [".spec[", ".a[?(@.b]", ".a['b", "a.b", ".a[x]", ".a[?(@.b=1)]"] {
            assert!(JsonPath::parse(path).is_none(), "{path}");
        }
    }
}
