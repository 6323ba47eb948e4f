//! The selection of values by an expression.

use super::steps::{Comparison, JsonPath, Mismatch, Slice, Step};
use crate::deadline::Deadline;
use std::cmp::Ordering;
use std::collections::HashMap;
use tree::Value;

type Found<'v> = Result<Vec<&'v Value>, Mismatch>;

impl JsonPath {
    /// The first of the values that it selects; none if the time is up.
    pub fn first<'v>(&'v self, object: &'v Value, deadline: &Deadline) -> Option<&'v Value> {
        self.find(object, deadline).ok()?.first().copied()
    }

    /// The values that it selects, each at most twice: it matters whether there are several, but not how many.
    ///
    /// # Errors
    /// If the object does not have the form that the expression requires, or the time is up.
    pub fn find<'v>(&'v self, object: &'v Value, deadline: &Deadline) -> Found<'v> {
        let mut found = vec![object];
        let mut is_constant = false;
        for step in &self.0 {
            // Constants have no values below them.
            if is_constant && !found.is_empty() {
                return Err(Mismatch);
            }
            is_constant = matches!(step, Step::Constant(_));
            found = step.take(&found, deadline)?;
        }
        Ok(found)
    }

    /// The value that it selects in an item, if it has only fields or is a constant: most of those in filters are.
    fn simple<'v>(&'v self, item: &'v Value) -> Option<Option<&'v Value>> {
        let mut value = Some(item);
        for step in &self.0 {
            value = match step {
                Step::Field(name) => value.and_then(|value| value.get(name)),
                Step::Constant(constant) if self.0.len() == 1 => Some(constant),
                _ => return None,
            };
        }
        Some(value)
    }

    fn selection<'v>(&'v self, item: &'v Value, deadline: &Deadline) -> Result<Selection<'v>, Mismatch> {
        if let Some(value) = self.simple(item) {
            return Ok(value.map_or(Selection::Nothing, Selection::One));
        }
        Ok(match self.find(item, deadline)?[..] {
            [] => Selection::Nothing,
            [value] => Selection::One(value),
            _ => Selection::Several,
        })
    }
}

/// The values that a side of a filter selects.
enum Selection<'v> {
    Nothing,
    One(&'v Value),
    Several,
}

impl Step {
    /// The values that it selects in some.
    fn take<'v>(&'v self, values: &[&'v Value], deadline: &Deadline) -> Found<'v> {
        let mut found = Vec::new();
        let mut seen = Seen::default();
        let repeats = values.len() > 1;
        for value in values {
            deadline.check().map_err(|_| Mismatch)?;
            match self {
                _ if value.is_null() && !matches!(self, Step::Constant(_) | Step::Filter { .. }) => {}
                Step::Field(name) => found.extend(value.get(name)),
                Step::Wildcard => found.extend(children(value)),
                Step::Descend => descend(value, repeats.then_some(&mut seen), &mut found, deadline)?,
                Step::Slice(slice) => found.extend(slice.of(value.as_array().ok_or(Mismatch)?)?),
                Step::Union(paths) => {
                    for path in paths {
                        found.extend(path.find(value, deadline)?.into_iter().filter(|value| seen.is_new(value)));
                    }
                }
                Step::Filter { left, comparison } => {
                    for item in value.as_array().ok_or(Mismatch)? {
                        deadline.check().map_err(|_| Mismatch)?;
                        if passes(item, left, comparison.as_ref(), deadline)? {
                            found.push(item);
                        }
                    }
                }
                Step::Constant(constant) => found.push(constant),
            }
        }
        Ok(found)
    }
}

/// How often values were selected.
#[derive(Default)]
struct Seen(HashMap<usize, u8>);

impl Seen {
    /// Counts a value, and returns whether it was selected at most once before. Otherwise the number of values would grow with each step.
    fn is_new(&mut self, value: &Value) -> bool {
        let times = self.0.entry(std::ptr::from_ref(value).addr()).or_default();
        *times = (*times + 1).min(3);
        *times < 3
    }
}

fn children(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    items.chain(value.as_object().into_iter().flat_map(|members| members.values()))
}

fn descend<'v>(
    value: &'v Value,
    mut seen: Option<&mut Seen>,
    found: &mut Vec<&'v Value>,
    deadline: &Deadline,
) -> Result<(), Mismatch> {
    deadline.check().map_err(|_| Mismatch)?;
    // If the value was found twice, so was everything below it.
    if children(value).next().is_some() && seen.as_mut().is_none_or(|seen| seen.is_new(value)) {
        found.push(value);
        for child in children(value) {
            descend(child, seen.as_deref_mut(), found, deadline)?;
        }
    }
    Ok(())
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

fn passes(
    item: &Value,
    left: &JsonPath,
    comparison: Option<&(Comparison, JsonPath)>,
    deadline: &Deadline,
) -> Result<bool, Mismatch> {
    let found = left.selection(item, deadline);
    let Some((comparison, right)) = comparison else {
        return Ok(found.is_ok_and(|found| !matches!(found, Selection::Nothing)));
    };
    match (found?, right.selection(item, deadline)?) {
        (Selection::Nothing, _) | (_, Selection::Nothing) => Ok(false),
        (Selection::One(left), Selection::One(right)) => compare(*comparison, left, right),
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
