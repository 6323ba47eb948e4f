//! The choice of a stage, and of when it comes (`pkg/utils/lifecycle/lifecycle.go` of kwok v0.8.0).
//!
//! The uid and the revision of the object decide here where chance does there: the same run makes the same choices.

use super::query::Query;
use super::{Delay, Operator, Requirement, Selector, Stage};
use crate::workloads::facts::hash;
use jiff::{SignedDuration, Timestamp};
use machinery::object::meta;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

/// The stage that an object comes to next.
pub(super) fn next<'s>(stages: impl Iterator<Item = &'s Arc<Stage>>, object: &Value) -> Option<&'s Arc<Stage>> {
    let fitting: Vec<&Arc<Stage>> = stages.filter(|stage| stage.fits(object)).collect();
    if fitting.len() < 2 {
        return fitting.first().copied();
    }
    let weights: Vec<Option<i64>> = fitting.iter().map(|stage| stage.weight(object)).collect();
    let total = weights.iter().flatten().fold(0_i64, |total, weight| total.saturating_add(*weight));
    let chance = chance(object, "stage");
    if total <= 0 {
        let weighed = fitting.iter().zip(&weights).filter(|(_, weight)| weight.is_some()).map(|(stage, _)| *stage);
        let weighed: Vec<&Arc<Stage>> = weighed.collect();
        let among = if weighed.is_empty() { &fitting } else { &weighed };
        let index = usize::try_from(chance % u64::try_from(among.len()).unwrap_or(1)).unwrap_or_default();
        return among.get(index).copied();
    }
    let mut left = i64::try_from(chance % total.unsigned_abs()).unwrap_or_default();
    for (stage, weight) in fitting.iter().zip(weights) {
        let weight = weight.unwrap_or_default().max(0);
        if left < weight {
            return Some(*stage);
        }
        left -= weight;
    }
    fitting.last().copied()
}

/// A number that nobody can foretell but who knows the object.
fn chance(object: &Value, of: &str) -> u64 {
    let text = format!("{of}/{}/{}", meta::uid(object), meta::resource_version(object));
    // The last bytes of such a hash are hardly mixed.
    let hash = hash::fnv64(text.into_bytes());
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16
}

impl Stage {
    fn fits(&self, object: &Value) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.selects(object))
    }

    fn weight(&self, object: &Value) -> Option<i64> {
        let answer = self.weight_from.as_ref().and_then(|query| first(query, object));
        match answer {
            Some(Value::String(text)) => integer(&text),
            Some(Value::Number(number)) => number.as_f64().map(|number| number as i64),
            _ => Some(self.weight),
        }
    }

    /// How long it takes to come.
    pub(super) fn wait(&self, object: &Value, now: Timestamp) -> Duration {
        self.delay.as_ref().map_or(Duration::ZERO, |delay| delay.of(object, now))
    }
}

fn first(query: &Query, object: &Value) -> Option<Value> {
    query.ask(object)?.into_iter().next()
}

/// A whole number, as `strconv.ParseInt` reads it with the base 0.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, &*lower),
    };
    i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()
}

impl Delay {
    fn of(&self, object: &Value, now: Timestamp) -> Duration {
        let Some(begin) = from(self.duration_from.as_ref(), Some(self.duration), object, now) else {
            return Duration::ZERO;
        };
        let wait = match from(self.end_from.as_ref(), self.end, object, now) {
            Some(end) if end > begin => {
                let room = u64::try_from(end.saturating_sub(begin).as_nanos()).unwrap_or(u64::MAX).max(1);
                let more = i64::try_from(chance(object, "delay") % room).unwrap_or(i64::MAX);
                begin.saturating_add(SignedDuration::from_nanos(more))
            }
            Some(end) => end,
            None => begin,
        };
        Duration::try_from(wait).unwrap_or_default()
    }
}

/// A duration: what a query answers, a time or a duration, or the usual one; `None` if it answers nothing.
fn from(query: Option<&Query>, usual: Option<Duration>, object: &Value, now: Timestamp) -> Option<SignedDuration> {
    let usual = usual.map(|usual| SignedDuration::try_from(usual).unwrap_or(SignedDuration::MAX));
    let Some(Value::String(text)) = query.and_then(|query| first(query, object)) else { return usual };
    if text.is_empty() {
        return None;
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.duration_since(now));
    }
    text.parse().ok().or(usual)
}

impl Selector {
    fn selects(&self, object: &Value) -> bool {
        let labels = meta::labels(object);
        let has = |(name, value): &(String, String)| labels.get(name).is_some_and(|label| label == value);
        let annotated = |(name, value): &(String, String)| {
            let annotation = object.pointer("/metadata/annotations").and_then(|all| all.get(&**name));
            annotation.and_then(Value::as_str) == Some(value)
        };
        self.labels.iter().all(has)
            && self.annotations.iter().all(annotated)
            && self.requirements.iter().all(|requirement| requirement.holds(object))
    }
}

impl Requirement {
    fn holds(&self, object: &Value) -> bool {
        let answers = self.query.ask(object).unwrap_or_default();
        let is_listed = |answer: &Value| match answer {
            Value::String(text) => self.values.iter().any(|value| *value == **text),
            Value::Bool(flag) => self.values.iter().any(|value| *value == flag.to_string()),
            // A number of an object is a float to kwok, which is compared with nothing.
            _ => false,
        };
        match self.operator {
            Operator::In => answers.iter().any(is_listed),
            Operator::NotIn => !answers.iter().any(is_listed),
            Operator::Exists => !answers.is_empty(),
            Operator::DoesNotExist => answers.is_empty(),
        }
    }
}
