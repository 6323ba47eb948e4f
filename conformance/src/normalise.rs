//! Makes the histories of two runs comparable: what differs from run to run gets a name, in the order of its size where
//! size means something (revisions, times), in the order of appearance elsewhere (uids, tokens).

use crate::names::Names;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What has been met so far.
#[derive(Debug, Default)]
pub struct Volatile {
    revisions: BTreeSet<u64>,
    times: BTreeSet<String>,
    tokens: Vec<String>,
    uids: Vec<String>,
    named: BTreeMap<String, String>,
}

impl Volatile {
    /// The volatile values in `documents`; those that have a name in `names` keep it.
    pub fn gather<'a>(documents: impl IntoIterator<Item = &'a Value>, names: &Names) -> Volatile {
        let mut volatile = Volatile::default();
        for (name, value) in names.iter() {
            if let Some(text) = value.as_str().filter(|text| text.len() > 4) {
                volatile.named.insert(text.to_owned(), format!("${name}"));
            }
        }
        for document in documents {
            volatile.meet("", document);
        }
        volatile
    }

    fn meet(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| self.meet(key, value)),
            Value::Array(items) => items.iter().for_each(|item| self.meet(key, item)),
            Value::String(text) => match Kind::of(key, text) {
                Some(Kind::Revision) => self.revisions.extend(text.parse::<u64>()),
                Some(Kind::Time) => self.times.extend([text.clone()]),
                Some(Kind::Token) if !self.tokens.contains(text) => self.tokens.push(text.clone()),
                Some(Kind::Uid) if !self.uids.contains(text) => self.uids.push(text.clone()),
                _ => {}
            },
            _ => {}
        }
    }

    /// `document` with names in place of volatile values.
    pub fn normal(&self, document: &Value) -> Value {
        self.replaced("", document)
    }

    fn replaced(&self, key: &str, value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(key, value)| (key.clone(), self.replaced(key, value))).collect())
            }
            Value::Array(items) => items.iter().map(|item| self.replaced(key, item)).collect(),
            Value::String(text) => self.name(key, text).unwrap_or_else(|| self.spelled(text)).into(),
            plain => plain.clone(),
        }
    }

    fn name(&self, key: &str, text: &str) -> Option<String> {
        if let Some(name) = self.named.get(text) {
            return Some(name.clone());
        }
        let place = |position: Option<usize>| position.map(|position| position + 1);
        Some(match Kind::of(key, text)? {
            Kind::Revision => {
                let revision: u64 = text.parse().ok()?;
                format!("<revision {}>", place(self.revisions.iter().position(|known| *known == revision))?)
            }
            Kind::Time => format!("<time {}>", place(self.times.iter().position(|known| known == text))?),
            Kind::Token => format!("<token {}>", place(self.tokens.iter().position(|known| known == text))?),
            Kind::Uid => format!("<uid {}>", place(self.uids.iter().position(|known| known == text))?),
        })
    }

    /// Names inside of a longer text: paths, messages.
    fn spelled(&self, text: &str) -> String {
        let replace = |text: String, (value, name): (&String, &String)| text.replace(value.as_str(), name);
        self.named.iter().fold(text.to_owned(), replace)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Revision,
    Time,
    Token,
    Uid,
}

impl Kind {
    fn of(key: &str, text: &str) -> Option<Kind> {
        let time = || text.len() >= 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok();
        let token = || text.starts_with("eyJ") && text.split('.').count() == 3;
        match key {
            "resourceVersion" if text.parse::<u64>().is_ok_and(|revision| revision > 0) => Some(Kind::Revision),
            "uid" if text.len() == 36 => Some(Kind::Uid),
            _ if token() => Some(Kind::Token),
            _ if time() => Some(Kind::Time),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(name: &str, uid: u32, revision: u64, time: &str) -> Value {
        let uid = format!("00000000-0000-4000-8000-{uid:012}");
        json!({"metadata": {"name": name, "uid": uid, "resourceVersion": revision.to_string(), "creationTimestamp": time}})
    }

    #[test]
    fn two_runs_become_equal() {
        let normal = |objects: [Value; 2], suffix: &str| {
            let mut names = Names::default();
            names.bind("new", format!("builder-{suffix}").into());
            let volatile = Volatile::gather(&objects, &names);
            objects.map(|object| volatile.normal(&object))
        };
        let one = [object("builder-x", 1, 9, "2026-01-01T00:00:00Z"), object("b", 2, 10, "2026-01-01T00:00:01Z")];
        let other = [object("builder-y", 8, 99, "2027-01-01T00:00:00Z"), object("b", 3, 107, "2027-01-01T00:00:09Z")];
        let reversed =
            [object("builder-y", 8, 107, "2027-01-01T00:00:00Z"), object("b", 3, 99, "2027-01-01T00:00:09Z")];
        assert_eq!(normal(one.clone(), "x"), normal(other, "y"));
        assert_ne!(normal(one, "x"), normal(reversed, "y"));
    }
}
