//! Documents in pieces: operations with placeholders for the names of their resource, texts that occur in several of them, schemas.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The length from which a repeated text is written once only.
const LONG: usize = 80;
/// How often it has to occur for that.
const OFTEN: usize = 3;
/// The extension that says of which kinds a schema is.
const KINDS: &str = r#""x-kubernetes-group-version-kind":["#;
/// In its place the kind of the document's own group, where every group has one.
const OWN_KIND: &str = "⟨own kind⟩";

/// The operations of all paths.
pub(super) struct Pieces<'a> {
    /// The number of the operations of a path.
    pub(super) of_paths: BTreeMap<&'a str, usize>,
    /// Operations, by number.
    pub(super) paths: Vec<String>,
    /// Texts that occur in several of them, by number.
    pub(super) texts: Vec<String>,
}

impl<'a> Pieces<'a> {
    /// The operations, with frequent parts stored only once; `kind` returns the kind of a path.
    pub(super) fn of(operations: &BTreeMap<&'a str, &'a str>, kind: impl Fn(&str) -> Option<&'a str>) -> Self {
        let mut texts = Texts::default();
        let parameters: BTreeSet<&str> = operations.values().flat_map(|json| parameters(json)).collect();
        let mut parameters: Vec<(&str, String)> =
            parameters.into_iter().map(|json| (json, texts.add(json.to_owned()))).collect();
        parameters.sort_by_key(|(json, _)| std::cmp::Reverse(json.len()));
        let (mut of_paths, mut paths) = (BTreeMap::new(), Vec::new());
        for (path, json) in operations {
            let shared = parameters.iter().fold((*json).to_owned(), |json, (text, name)| json.replace(text, name));
            let json = kind(path).map_or(shared.clone(), |kind| with_placeholders(&shared, path, kind));
            let number = paths.iter().position(|other| *other == json).unwrap_or_else(|| {
                paths.push(json);
                paths.len() - 1
            });
            of_paths.insert(*path, number);
        }
        paths.iter().for_each(|json| texts.count(json));
        let paths = paths.iter().map(|json| texts.shorten(json)).collect();
        Pieces { of_paths, paths, texts: texts.texts }
    }
}

/// Texts with numbers.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    /// How often an object or a list occurs.
    counts: HashMap<String, usize>,
    names: HashMap<String, String>,
}

impl Texts {
    fn add(&mut self, json: String) -> String {
        self.texts.push(json);
        format!("⟨{}⟩", self.texts.len() - 1)
    }

    /// Counts a value, and those in it if it is the first of its text.
    fn count(&mut self, json: &str) {
        let count = self.counts.entry(json.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            parts(json).into_iter().for_each(|part| self.count(part));
        }
    }

    /// The value with names in place of frequent parts.
    fn shorten(&mut self, json: &str) -> String {
        let mut short = json.to_owned();
        for part in parts(json) {
            if let Some(name) = self.names.get(part) {
                short = short.replacen(part, name, 1);
                continue;
            }
            let mut shorter = self.shorten(part);
            if part.len() >= LONG && self.counts[part] >= OFTEN {
                shorter = self.add(shorter);
                self.names.insert(part.to_owned(), shorter.clone());
            }
            short = short.replacen(part, &shorter, 1);
        }
        short
    }
}

/// The long parameters of the operations of a path, but those that name a kind or its schema.
fn parameters(json: &str) -> Vec<&str> {
    let own = member(json, "parameters").into_iter();
    let theirs = members(json).into_iter().filter_map(|(_, operation)| member(operation, "parameters"));
    let is_shared =
        |json: &&str| json.len() > LONG && !json.contains("name of the ") && !json.contains("#/definitions/");
    own.chain(theirs).flat_map(parts).filter(is_shared).collect()
}

/// The operations of a path with placeholders for the names of its resource.
fn with_placeholders(json: &str, path: &str, kind: &str) -> String {
    let elements: Vec<&str> = path.split('/').skip(1).collect();
    let (group, version) = if elements[0] == "api" { ("", elements[1]) } else { (elements[1], elements[2]) };
    let package = match group {
        "" => "io.k8s.api.core".to_owned(),
        "apiextensions.k8s.io" => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions".to_owned(),
        "apiregistration.k8s.io" => "io.k8s.kube-aggregator.pkg.apis.apiregistration".to_owned(),
        group => format!("io.k8s.api.{}", group.split('.').next().unwrap_or_default()),
    };
    let tag = json.split_once(r#""tags":[""#).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
    let capital = |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect();
    let group_id: String = tag.split('_').map(capital).collect::<Vec<String>>().concat();
    let mut json = json
        .replace(&format!(r#""tags":["{tag}"]"#), r#""tags":["⟨tag⟩"]"#)
        .replace(&group_id, "⟨Group⟩")
        .replace(&format!("{package}.{version}."), "⟨model⟩")
        .replace(&format!(r#""group":"{group}""#), r#""group":"⟨group⟩""#)
        .replace(&format!(r#""version":"{version}""#), r#""version":"⟨version⟩""#);
    for article in [" a ", " an "] {
        json = json.replace(&format!("{article}{kind}"), &format!("⟨a⟩{kind}"));
    }
    json.replace(kind, "⟨kind⟩")
}

/// A schema with a placeholder for the kind that there is of it in each group, of which documents name only their own.
pub(super) fn model_of_all(name: &str, json: &str) -> Option<String> {
    let kind = name.rsplit('.').next()?;
    let first = format!(r#"{KINDS}{{"group":"","kind":"{kind}","version":"v1"}}"#);
    let (before, rest) = json.split_once(&first)?;
    Some(format!("{before}{first}{OWN_KIND}]{}", rest.split_once(']')?.1))
}

/// A member of an object.
pub(super) fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    members(json).into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The members of an object, in order, with names that need no escapes; none of another value.
pub(super) fn members(json: &str) -> Vec<(&str, &str)> {
    if !json.starts_with('{') {
        return Vec::new();
    }
    let member = |part: &'_ str| -> Option<(usize, usize)> {
        let end = 1 + part.get(1..)?.find('"')?;
        Some((1, end))
    };
    split(json)
        .into_iter()
        .filter_map(|part| {
            let (from, to) = member(part)?;
            Some((&part[from..to], &part[to + 2..]))
        })
        .collect()
}

/// The objects and lists in an object or a list.
fn parts(json: &str) -> Vec<&str> {
    let values = match json.starts_with('{') {
        true => members(json).into_iter().map(|(_, value)| value).collect(),
        false => split(json),
    };
    values.into_iter().filter(|value| value.starts_with(['{', '['])).collect()
}

/// The texts between the commas of an object or a list; none of another value.
fn split(json: &str) -> Vec<&str> {
    let (mut depth, mut is_text, mut escaped, mut start) = (0, false, false, 1);
    let mut found = Vec::new();
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if is_text => escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' if depth == 1 => {
                found.push(&json[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if json.starts_with(['{', '[']) && start < json.len() - 1 {
        found.push(&json[start..json.len() - 1]);
    }
    found
}
