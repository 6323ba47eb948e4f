//! The records of the real server's documents about its own resources, written by `cargo xtask conformance openapi`: `recorded.txt`, and
//! `recorded_optional.txt` for the versions that it has only if it is asked for them. They are compressed in the program, and read when a
//! document is asked for.

use super::convert;
use super::template::{Form, Names, Template};
use flate2::read::ZlibDecoder;
use std::borrow::Cow;
use std::io::Read as _;
use std::sync::LazyLock;

/// The records as they are in the program.
const COMPRESSED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi.zlib"));
const COMPRESSED_OPTIONAL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/openapi_optional.zlib"));
/// In a schema, where the kind of the document's own group belongs.
const OWN_KIND: &str = "⟨own kind⟩";

/// The record.
pub(super) struct Recorded {
    /// All paths, sorted.
    pub(super) paths: Vec<Path>,
    v2: Template,
    v3: Template,
}

/// A path, and its subject.
pub(super) struct Path {
    pub(super) path: &'static str,
    /// Whether it is in the record of optional versions.
    pub(super) is_optional: bool,
    /// The keys of the operations in version 2 and 3.
    v2: &'static str,
    v3: &'static str,
    kind: &'static str,
    pub(super) about: About,
}

/// The subject of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum About {
    /// The server itself.
    Server,
    /// Discovery of a group.
    Group(&'static str),
    /// Discovery of a version of a group.
    Version(&'static str, &'static str),
    /// A resource, or the subresource of that name.
    Resource { group: &'static str, version: &'static str, plural: &'static str, subresource: &'static str },
}

impl Recorded {
    /// The record of what every server publishes, which is read at the first call.
    pub(super) fn get() -> &'static Recorded {
        static TEXT: LazyLock<String> = LazyLock::new(|| text(COMPRESSED));
        static RECORDED: LazyLock<Recorded> = LazyLock::new(|| Recorded::read(&TEXT, false));
        &RECORDED
    }

    /// The record of what servers publish, too, if they are asked for optional versions; read at the first call.
    pub(super) fn optional() -> &'static Recorded {
        static TEXT: LazyLock<String> = LazyLock::new(|| text(COMPRESSED_OPTIONAL));
        static RECORDED: LazyLock<Recorded> = LazyLock::new(|| Recorded::read(&TEXT, true));
        &RECORDED
    }

    fn read(text: &'static str, is_optional: bool) -> Recorded {
        let mut recorded = Recorded { paths: Vec::new(), v2: Template::default(), v3: Template::default() };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix("path\t") {
                Some(path) => recorded.paths.push(Path::read(path, is_optional)),
                None => {
                    recorded.v2.add("v2", line);
                    recorded.v3.add("v3", line);
                }
            }
        }
        recorded
    }

    /// The operations of a path.
    pub(super) fn operations(&self, path: &Path, form: Form) -> String {
        let (template, key) = match form {
            Form::V2 => (&self.v2, path.v2),
            Form::V3 => (&self.v3, path.v3),
        };
        let (group, version) = path.about.group_version();
        template.fill(template.paths[key], &Names::of_built_in(group, version, path.kind))
    }

    /// A schema, in a document about that version of that group, or (version 2) all.
    pub(super) fn model(&self, name: &str, form: Form, group: &str, version: &str) -> Option<Cow<'static, str>> {
        let three = *self.v3.models.get(name)?;
        let kind = name.rsplit('.').next().unwrap_or_default();
        match form {
            Form::V2 => {
                Some(self.v2.models.get(name).map_or_else(|| convert::to_v2(three).into(), |json| (*json).into()))
            }
            Form::V3 if !three.contains(OWN_KIND) => Some(three.into()),
            Form::V3 if group.is_empty() => Some(three.replace(OWN_KIND, "").into()),
            Form::V3 => {
                let own = format!(r#",{{"group":"{group}","kind":"{kind}","version":"{version}"}}"#);
                Some(three.replace(OWN_KIND, &own).into())
            }
        }
    }

    /// A parameter of version 2.
    pub(super) fn parameter(&self, name: &str) -> Option<&'static str> {
        self.v2.parameters.get(name).copied()
    }
}

/// A record, decompressed.
fn text(compressed: &[u8]) -> String {
    let mut text = String::new();
    ZlibDecoder::new(compressed).read_to_string(&mut text).expect("the record was compressed from text");
    text
}

impl Path {
    fn read(line: &'static str, is_optional: bool) -> Path {
        let mut columns = line.split('\t');
        let [path, v3, v2, kind] = [(); 4].map(|()| columns.next().expect("a path has four columns"));
        Path { path, is_optional, v2, v3, kind, about: About::of(path) }
    }

    /// The path below `/openapi/v3` of the document that it is in.
    pub(super) fn document(&self) -> &'static str {
        match self.about {
            About::Server | About::Group(_) | About::Version(..) => self.path.trim_matches('/'),
            About::Resource { group, .. } => {
                let slashes = if group.is_empty() { 3 } else { 4 };
                let end = self.path.match_indices('/').nth(slashes - 1).map_or(self.path.len(), |(at, _)| at);
                &self.path[1..end]
            }
        }
    }
}

impl About {
    fn of(path: &'static str) -> About {
        let mut elements = path.split('/').skip(1);
        let group = match elements.next() {
            Some("api") => "",
            Some("apis") => elements.next().unwrap_or_default(),
            _ => return About::Server,
        };
        let version = elements.next().unwrap_or_default();
        let elements: Vec<&str> = elements.collect();
        let elements = elements.strip_prefix(&["watch"]).unwrap_or(&elements);
        match elements.strip_prefix(&["namespaces", "{namespace}"]).unwrap_or(elements) {
            [] if group.is_empty() => About::Server,
            [] => About::Group(group),
            [""] => About::Version(group, version),
            [plural, rest @ ..] => {
                About::Resource { group, version, plural, subresource: rest.get(1).copied().unwrap_or_default() }
            }
        }
    }

    fn group_version(self) -> (&'static str, &'static str) {
        match self {
            About::Server => ("", ""),
            About::Group(group) => (group, ""),
            About::Version(group, version) | About::Resource { group, version, .. } => (group, version),
        }
    }
}
