//! Documents: the objects that files describe, each with the place where it stands.

mod files;
mod stream;

pub use files::files;

use machinery::yaml;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use stream::Part;
use tree::Value;

/// The name of the standard input, as an argument and in reports.
pub const STDIN: &str = "-";
/// The marks of a template's actions.
pub(crate) const ACTION: &str = "{{";

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The file as it was named; `-` is the standard input.
    #[serde(serialize_with = "as_text")]
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: usize,
}

fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// An object, and where it stands.
#[derive(Debug, Clone)]
pub struct Document {
    /// The place where it begins.
    pub place: Place,
    /// The object.
    pub object: Value,
    /// The text of the document in which it stands.
    text: Arc<[u8]>,
    /// The line before that document.
    before: usize,
    /// The way to the object in the document, if that is a list of objects.
    within: Vec<String>,
}

/// A text that describes no object.
#[derive(Debug, Clone)]
pub struct Unreadable {
    /// The place of the error, as far as it is known.
    pub place: Place,
    /// The error.
    pub message: String,
    /// Whether the text is a template of Helm's or the like.
    pub is_template: bool,
}

/// A result of reading: one for each object.
pub type Reading = Result<Document, Unreadable>;

impl Document {
    /// The text at a JSON pointer; empty if there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// The place of a field, such as `spec.containers[0].image`, or of the nearest part of the object that is there.
    pub fn place_of(&self, field: &str) -> Place {
        let steps = steps(field);
        let path: Vec<&str> = self.within.iter().chain(&steps).map(String::as_str).collect();
        let line = yaml::lines(&self.text, &[path]).map_or(self.place.line, |lines| self.before + lines[0]);
        Place { line, ..self.place.clone() }
    }
}

/// The steps of a path as the server prints them: `metadata.labels[a.b/c]` has three.
fn steps(field: &str) -> Vec<String> {
    let (mut steps, mut rest) = (Vec::new(), field);
    while !rest.is_empty() {
        let (step, behind) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']').unwrap_or((inner, "")),
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        if !step.is_empty() {
            steps.push(step.trim_matches('"').to_owned());
        }
        rest = behind.strip_prefix('.').unwrap_or(behind);
    }
    steps
}

/// Reads the objects of a text, in order. Documents without a value are left out.
pub fn read(file: &str, text: &[u8]) -> Vec<Reading> {
    let file: Arc<str> = file.into();
    stream::parts(text).into_iter().flat_map(|part| read_part(&file, part)).collect()
}

/// Reads the objects of a file, or of the standard input.
///
/// # Errors
/// If it cannot be read.
pub fn read_file(path: &Path) -> std::io::Result<Vec<Reading>> {
    let name = path.to_string_lossy();
    let text = match &*name {
        STDIN => std::io::read_to_string(std::io::stdin().lock()).map(String::into_bytes)?,
        _ => std::fs::read(path)?,
    };
    Ok(read(&name, &text))
}

fn read_part(file: &Arc<str>, part: Part<'_>) -> Vec<Reading> {
    let unreadable = |line: usize, message: String| {
        let is_template = String::from_utf8_lossy(part.text).contains(ACTION);
        vec![Err(Unreadable { place: Place { file: file.clone(), line }, message, is_template })]
    };
    if let Some(message) = part.refusal {
        return unreadable(part.before + 1, message);
    }
    let value = match part.value() {
        Ok(Value::Null) => return Vec::new(),
        Ok(value) => value,
        Err((line, message)) => return unreadable(part.before + line, message),
    };
    let root = part.first_line();
    if !value.is_object() {
        let found = machinery::schema::json_type(&value);
        return unreadable(part.before + root, format!("the document is no object but: {found}"));
    }
    let text: Arc<[u8]> = part.text.into();
    let unfolded = unfolded(value, Vec::new());
    let paths: Vec<Vec<&str>> = unfolded.iter().map(|(_, way)| way.iter().map(String::as_str).collect()).collect();
    let is_list = paths.iter().any(|path| !path.is_empty());
    let lines = is_list.then(|| yaml::lines(part.text, &paths)).flatten().unwrap_or_else(|| vec![root; paths.len()]);
    let of = |((object, within), line): ((Value, Vec<String>), usize)| {
        let place = Place { file: file.clone(), line: part.before + line };
        Ok(Document { place, object, text: text.clone(), before: part.before, within })
    };
    unfolded.into_iter().zip(lines).map(of).collect()
}

/// The items of a list of objects and of those within it, with the ways to them; another object as it is.
fn unfolded(object: Value, within: Vec<String>) -> Vec<(Value, Vec<String>)> {
    let is_list = object["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    match object.get("items").filter(|_| is_list) {
        Some(Value::Array(items)) => {
            let way = |index: usize| [within.clone(), vec!["items".to_owned(), index.to_string()]].concat();
            items.iter().enumerate().flat_map(|(index, item)| unfolded(item.clone(), way(index))).collect()
        }
        _ => vec![(object, within)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let told = |reading: Reading| match reading {
            Ok(document) => format!("{} {}", document.place.line, document.object),
            Err(unreadable) => format!("{}! {}", unreadable.place.line, unreadable.message),
        };
        read("a.yaml", text.as_bytes()).into_iter().map(told).collect()
    }

    #[test]
    fn streams_are_read_as_kubectl_does() {
        assert_eq!(told("# first\na: 1\n---\n---\n# none\n--- # second\n\n\nb: 2\n"), ["2 {\"a\":1}", "9 {\"b\":2}"]);
        assert_eq!(told("{\"a\": 1}\n{\"b\":\n2}"), ["1 {\"a\":1}", "2 {\"b\":2}"]);
        assert_eq!(told("{\"a\": 1}\n---\nb: 2\n"), ["1 {\"a\":1}", "3 {\"b\":2}"]);
        assert_eq!(told(""), [""; 0]);
        let list = "apiVersion: v1\nkind: List\nitems:\n- a: 1\n- kind: PodList\n  items:\n  - b: 2\n";
        assert_eq!(told(list), ["4 {\"a\":1}", "7 {\"b\":2}"]);
    }

    #[test]
    fn errors_have_their_lines() {
        for (text, expected) in [
            ("a: 1\n---\n\ta: 1\n---\nb: 2\n", "3! yaml: found character that cannot start any token"),
            ("a: 1\n---\nb:\n\tc: 1\n", "4! yaml: line 4: found character that cannot start any token"),
            ("a: 1\n---\na: 1\na: 2\n", "4! yaml: line 4: key \"a\" already set in map"),
            ("a: 1\n--- b\nc: 2\n", "2! invalid Yaml document separator: b"),
            ("a: 1\n---\n- b\n", "3! the document is no object but: array"),
            (
                "a: 1\n---\na: {{ .Values.a }}\n",
                "3! yaml: invalid map key: map[interface {}]interface {}{\".Values.a\":interface {}(nil)}",
            ),
            ("{\"a\": 1}\n{\"b\": 1}\n{\"c\": }\n", "3! expected value at line 3 column 7"),
            ("{\"a\": 1}\n{\"b\": 1,\n\"b\": 2}\n", "2! key \"b\" already set in map"),
        ] {
            assert_eq!(told(text).iter().find(|one| one.contains('!')).map(String::as_str), Some(expected), "{text}");
        }
        // The documents beside one that cannot be read are read.
        assert_eq!(told("a: 1\n---\n\ta: 1\n---\nb: 2\n").len(), 3);
    }

    #[test]
    fn fields_have_their_lines() {
        let text = "---\nitems:\n- metadata:\n    labels:\n      a.b/c: d\n  spec:\n  - x: 1\n  - y: 2\nkind: List\n";
        let document = read("a.yaml", text.as_bytes()).remove(0).unwrap();
        for (field, line) in [("metadata.labels[a.b/c]", 5), ("spec[1].y", 8), ("", 3), ("<nil>", 3), ("spec[1].z", 8)]
        {
            assert_eq!(document.place_of(field).line, line, "{field}");
        }
    }
}
