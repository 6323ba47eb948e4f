//! Normalisation, which makes two runs comparable: values that differ from run to run are replaced by placeholders. Names that
//! the scenario bound are used first; then revisions of objects are numbered by size, uids and tokens in the order of their
//! appearance. Times, ages, addresses and the revisions of collections (which other clients' writes advance) become words;
//! scenarios and checks say how they relate.

use crate::names::Names;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD as BASE64, URL_SAFE_NO_PAD as BASE64_URL};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;

/// The values that differ from run to run, each with its placeholder.
#[derive(Debug, Default)]
pub struct Placeholders {
    revisions: BTreeSet<u64>,
    tokens: Vec<String>,
    uids: Vec<String>,
    /// Values that the scenario has a name for, with that name; longest first.
    named: Vec<(String, String)>,
    /// Names that the server generated: `builder-x7k2p` → `builder-<generated 1>`.
    generated: BTreeMap<String, String>,
}

impl Placeholders {
    /// The volatile values in `documents`; those that have a name in `names` keep it.
    pub fn collect<'a>(documents: impl IntoIterator<Item = &'a Value>, names: &Names) -> Placeholders {
        let mut placeholders = Placeholders::default();
        for document in documents {
            placeholders.note("", document);
        }
        for (name, value) in names.iter() {
            // Revisions and uids have placeholders of their own, and short words match by accident. What is generated may consist of
            // digits, too.
            let is_revision = |text: &str| {
                let is_end = || placeholders.generated.keys().any(|name| name.ends_with(text));
                let is_known = || text.parse().is_ok_and(|number| placeholders.revisions.contains(&number));
                Kind::of("resourceVersion", text).is_some() && (is_known() || !(is_end() || may_be_generated(text)))
            };
            let text =
                value.as_str().filter(|text| text.len() > 4 && !is_revision(text) && uids(text).next().is_none());
            if let Some(text) = text {
                placeholders.named.push((BASE64.encode(text), format!("base64(${name})")));
                placeholders.named.push((text.to_owned(), format!("${name}")));
            }
            // Of numbers only ports that a server chooses have names; shorter ones match by accident.
            if value.as_u64().is_some_and(|number| (10_000..=65_535).contains(&number)) {
                placeholders.named.push((value.to_string(), format!("${name}")));
            }
        }
        placeholders.named.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        placeholders
    }

    /// Gives all revisions the same placeholder: several clients that write at the same time have no fixed order.
    pub fn forget_order(&mut self) {
        self.revisions.clear();
    }

    fn note(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                let collection = is_collection(fields);
                if let Some((name, base)) = generated(fields) {
                    let number = self.generated.len() + 1;
                    self.generated.entry(name.to_owned()).or_insert_with(|| format!("{base}<generated {number}>"));
                }
                for (name, value) in fields.iter().filter(|(name, _)| !(collection && *name == "metadata")) {
                    self.note(inner(key, name), value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.note(key, item)),
            Value::String(text) => match Kind::of(key, text) {
                Some(Kind::Revision) => self.revisions.extend(text.parse::<u64>()),
                Some(Kind::Token) if !self.tokens.contains(text) => self.tokens.push(text.clone()),
                _ => uids(text).for_each(|uid| {
                    if !self.uids.iter().any(|known| known == uid) {
                        self.uids.push(uid.to_owned());
                    }
                }),
            },
            _ => {}
        }
    }

    /// `document` with placeholders in place of its volatile values.
    pub fn normal(&self, document: &Value) -> Value {
        self.replaced("", document, false)
    }

    fn replaced(&self, key: &str, value: &Value, of_collection: bool) -> Value {
        match value {
            // Those of a program differ from machine to machine.
            Value::Object(_) if key == "flags" => "<flags>".into(),
            Value::Object(fields) => {
                let collection = is_collection(fields);
                let of_collection = |key: &str| (collection && key == "metadata") || (of_collection && key != "items");
                let field = |(name, value): (&String, &Value)| {
                    (self.substitute(name), self.replaced(inner(key, name), value, of_collection(name)))
                };
                Value::Object(fields.iter().map(field).collect())
            }
            // They are in the order of their times, hence of the speed of a run.
            Value::Array(items) if key == "managedFields" => {
                let mut items: Vec<Value> = items.iter().map(|item| self.replaced(key, item, false)).collect();
                items.sort_by_cached_key(Value::to_string);
                items.into()
            }
            Value::Array(items) => items.iter().map(|item| self.replaced(key, item, false)).collect(),
            Value::String(text) => match key {
                "resourceVersion" if of_collection && !text.is_empty() => "<revision of the collection>".into(),
                "continue" => self.substitute(&continuation(text)).into(),
                _ => self.name(key, text).unwrap_or_else(|| self.substitute(text)).into(),
            },
            Value::Number(_) if SECONDS.contains(&key) => "<seconds>".into(),
            Value::Number(number) => self.named(&number.to_string()).map_or_else(|| value.clone(), Value::from),
            plain => plain.clone(),
        }
    }

    /// The name of a value that the scenario has one for.
    fn named(&self, whole: &str) -> Option<&str> {
        self.named.iter().find(|(value, _)| value == whole).map(|(_, name)| name.as_str())
    }

    fn name(&self, key: &str, text: &str) -> Option<String> {
        let place = |position: Option<usize>| position.map(|position| position + 1);
        Some(match Kind::of(key, text)? {
            Kind::Revision => {
                let revision: u64 = text.parse().ok()?;
                match place(self.revisions.iter().position(|known| *known == revision)) {
                    Some(place) => format!("<revision {place}>"),
                    None => "<revision>".to_owned(),
                }
            }
            Kind::Token => format!("<token {}>", place(self.tokens.iter().position(|known| known == text))?),
            Kind::Word(word) => word.to_owned(),
        })
    }

    /// `text` (a path, a message) with placeholders for the volatile values in it.
    pub fn substitute(&self, text: &str) -> String {
        let mut spelled = text.to_owned();
        for (value, name) in &self.named {
            spelled = spelled.replace(value, name);
        }
        for (value, name) in &self.generated {
            spelled = spelled.replace(value, name);
        }
        for (index, uid) in self.uids.iter().enumerate() {
            spelled = spelled.replace(uid, &format!("<uid {}>", index + 1));
        }
        for marker in NUMBERED {
            spelled = without_number(&spelled, marker);
        }
        for time in windows(&spelled.clone(), "0000-00-00T00:00:00Z") {
            spelled = spelled.replace(time, "<time>");
        }
        without_address(&spelled)
    }
}

/// The key by which the kind of the field `name` inside of `key` is found: `resourceVersion` is a revision only among metadata,
/// and in the reference of an event or of a bound volume; elsewhere it is text.
fn inner<'a>(key: &str, name: &'a str) -> &'a str {
    if name == "resourceVersion" && !["metadata", "involvedObject", "claimRef"].contains(&key) { "" } else { name }
}

/// The words right before a revision in a message.
const NUMBERED: [&str; 7] = [
    r#"resourceVersion\":\""#,
    "resource version: ",
    "resource version: <number> (",
    ", current: ",
    "in the precondition (",
    "in record (",
    "not decodable revision=",
];

/// Fields that hold seconds since 1970.
const SECONDS: [&str; 5] = ["exp", "iat", "nbf", "uptimeSeconds", "warnafter"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Revision,
    Token,
    Word(&'static str),
}

impl Kind {
    fn of(key: &str, text: &str) -> Option<Kind> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let time = || text.len() >= 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok();
        let jwt = |text: &str| text.starts_with("eyJ") && text.split('.').count() == 3;
        let token = || {
            let inner = || BASE64.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            jwt(text) || (text.starts_with("ZXlK") && inner().is_some_and(|inner| jwt(&inner)))
        };
        // As `duration.HumanDuration` prints it: `12s`, `3m20s`, `2d3h`, `323d`, `4y36d`.
        let units = ['s', 'm', 'h', 'd', 'y'];
        let age = || text.ends_with(units) && text.split_terminator(units).all(digits);
        match key {
            "resourceVersion" if text.parse::<u64>().is_ok_and(|revision| revision > 0) => Some(Kind::Revision),
            "cells" if age() => Some(Kind::Word("<age>")),
            "ca.crt" => Some(Kind::Word("<certificate>")),
            "version" if text.starts_with("..") => Some(Kind::Word("<version of the files>")),
            _ if token() => Some(Kind::Token),
            _ if time() => Some(Kind::Word("<time>")),
            _ => None,
        }
    }
}

/// The uids in `text`.
fn uids(text: &str) -> impl Iterator<Item = &str> {
    windows(text, "ffffffff-ffff-ffff-ffff-ffffffffffff")
}

/// The pieces of `text` that look like `shape`, in which `0` stands for any digit and `f` for any hexadecimal one.
fn windows<'a>(text: &'a str, shape: &'static str) -> impl Iterator<Item = &'a str> {
    let fits = |(byte, shape): (u8, u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'f' => byte.is_ascii_hexdigit(),
        exact => byte == exact,
    };
    let candidates = (0..text.len()).filter_map(|start| text.get(start..start + shape.len()));
    candidates.filter(move |candidate| candidate.bytes().zip(shape.bytes()).all(fits))
}

/// Whether these are the fields of a list, a table, or the object of a bookmark, whose revision is not that of an object.
fn is_collection(fields: &Map<String, Value>) -> bool {
    let unborn = |metadata: &Map<String, Value>| {
        metadata.contains_key("resourceVersion") && !metadata.contains_key("name") && !metadata.contains_key("uid")
    };
    fields.get("metadata").and_then(Value::as_object).is_some_and(unborn)
}

/// The base of the names that admission gives to the volumes with tokens.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// The name in these metadata, or of this volume, and what it was generated from, if it was.
fn generated(fields: &Map<String, Value>) -> Option<(&str, &str)> {
    let token_volume = || fields.contains_key("projected").then_some(TOKEN_VOLUME);
    let base = fields.get("generateName").and_then(Value::as_str).or_else(token_volume)?;
    let name = fields.get("name")?.as_str()?;
    // The server cuts the base to leave room for five characters.
    let kept = name.len().checked_sub(5).filter(|kept| *kept > 0 && base.starts_with(&name[..*kept]))?;
    Some((name, &base[..kept]))
}

/// A continue token without its revision; other text unchanged.
fn continuation(token: &str) -> String {
    let inner = BASE64_URL.decode(token).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    match inner {
        Some(Value::Object(fields)) if fields.len() == 3 && fields.get("rv").is_some_and(Value::is_u64) => {
            // The key begins with a slash only with a watch cache.
            let start = fields["start"].as_str().unwrap_or_default().trim_start_matches('/');
            format!("<continue {} at {start:?}>", fields["v"])
        }
        _ => token.to_owned(),
    }
}

/// `text` with a word for each number right behind `marker`.
fn without_number(text: &str, marker: &str) -> String {
    let mut parts = text.split(marker);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        result.push_str(marker);
        result.push_str(if rest.len() < part.len() { "<number>" } else { "" });
        result.push_str(rest);
    }
    result
}

/// `text` with a word for an address in it: `192.0.2.1:6443`.
fn without_address(text: &str) -> String {
    let part = |c: char| c.is_ascii_digit() || c == '.' || c == ':';
    let address = text.split(|c| !part(c)).find(|word| word.parse::<SocketAddrV4>().is_ok());
    address.map_or_else(|| text.to_owned(), |address| text.replace(address, "<address>"))
}

/// Whether a text of digits may be the end of a generated name: five letters of an alphabet that has these digits.
fn may_be_generated(text: &str) -> bool {
    text.len() == 5 && text.bytes().all(|digit| b"2456789".contains(&digit))
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
            let placeholders = Placeholders::collect(&objects, &names);
            objects.map(|object| placeholders.normal(&object))
        };
        let one = [object("builder-x", 1, 9, "2026-01-01T00:00:00Z"), object("b", 2, 10, "2026-01-01T00:00:01Z")];
        let other = [object("builder-y", 8, 99, "2027-01-01T00:00:00Z"), object("b", 3, 107, "2027-01-01T00:00:09Z")];
        let reversed =
            [object("builder-y", 8, 107, "2027-01-01T00:00:00Z"), object("b", 3, 99, "2027-01-01T00:00:09Z")];
        assert_eq!(normal(one.clone(), "x"), normal(other, "y"));
        assert_ne!(normal(one, "x"), normal(reversed, "y"));
    }

    #[test]
    fn the_end_of_a_refused_name_has_its_name_although_it_looks_like_a_revision() {
        let mut names = Names::default();
        names.bind("worse", "28728".into());
        let refusal = json!({"details": {"name": "A-28728"}});
        assert_eq!(Placeholders::collect([&refusal], &names).normal(&refusal)["details"]["name"], "A-$worse");
        let object = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "28728"}});
        let revision = &Placeholders::collect([&object], &names).normal(&object)["metadata"]["resourceVersion"];
        assert_eq!(revision, "<revision 1>");
    }

    #[test]
    fn a_generated_end_has_its_name_although_it_looks_like_a_revision() {
        for end in ["x7k2p", "24685"] {
            let mut names = Names::default();
            names.bind("end", end.into());
            let document = json!([{"name": format!("kube-api-access-{end}"), "projected": {}}]);
            let placeholders = Placeholders::collect([&document], &names);
            assert_eq!(placeholders.normal(&document)[0]["name"], "kube-api-access-$end");
        }
    }

    #[test]
    fn what_is_volatile_gets_a_word() {
        let continued = BASE64_URL.encode(r#"{"v":"meta.k8s.io/v1","rv":57,"start":"a\u0000"}"#);
        let uid = "00000000-0000-4000-8000-000000000001";
        for (document, expected) in [
            (
                json!({"metadata": {"resourceVersion": "57", "continue": continued}, "items": []}),
                json!({"metadata": {
                    "resourceVersion": "<revision of the collection>",
                    "continue": r#"<continue "meta.k8s.io/v1" at "a\0">"#,
                }, "items": []}),
            ),
            (
                json!({"metadata": {"uid": uid}, "message": format!("uid is {uid}")}),
                json!({"metadata": {"uid": "<uid 1>"}, "message": "uid is <uid 1>"}),
            ),
            (
                json!({"message": "Too large resource version: 900, current: 57"}),
                json!({"message": "Too large resource version: <number>, current: <number>"}),
            ),
            (
                json!({"metadata": {"name": "base-x7k2p", "generateName": "base-"}}),
                json!({"metadata": {"name": "base-<generated 1>", "generateName": "base-"}}),
            ),
            (
                json!([{"name": "kube-api-access-x7k2p", "projected": {}}, {"name": "kube-api-access-x7k2p"}]),
                json!([{"name": "kube-api-access-<generated 1>", "projected": {}}, {"name": "kube-api-access-<generated 1>"}]),
            ),
            (json!({"cells": ["a", "12s"], "exp": 5}), json!({"cells": ["a", "<age>"], "exp": "<seconds>"})),
            (json!({"cells": ["323d", "4y36d", "2d3h"]}), json!({"cells": ["<age>", "<age>", "<age>"]})),
            (json!({"cells": ["d", "add", "1", "m1s"]}), json!({"cells": ["d", "add", "1", "m1s"]})),
        ] {
            let placeholders = Placeholders::collect([&document], &Names::default());
            assert_eq!(placeholders.normal(&document), expected);
        }
    }
}
