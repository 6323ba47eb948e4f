//! Path of a field: `field.Path` of `k8s.io/apimachinery/pkg/util/validation/field` (v0.37.1), on the stack.
//!
//! A rule extends the path while it descends; only the path of a finding is turned into text.

use std::fmt;

/// Path of a field in an object, such as `spec.containers[0].resources.limits[cpu]`.
#[derive(Debug, Clone, Copy)]
pub struct Path<'p> {
    up: Option<&'p Path<'p>>,
    at: At<'p>,
}

#[derive(Debug, Clone, Copy)]
enum At<'p> {
    /// The object itself.
    Root,
    /// A field, or several joined by dots.
    Field(&'p str),
    /// An item of a list.
    Index(usize),
    /// An item of the list in a field.
    Item(&'p str, usize),
    /// An entry of a map.
    Key(&'p str),
}

impl<'p> Path<'p> {
    /// The object itself, whose path is empty.
    pub const ROOT: Path<'static> = Path { up: None, at: At::Root };

    /// A field of the object (`field.NewPath`); dots descend.
    pub const fn new(field: &'p str) -> Path<'p> {
        Path { up: None, at: At::Field(field) }
    }

    /// A field of the value here; dots descend.
    #[must_use]
    pub const fn child<'c>(&'c self, field: &'c str) -> Path<'c> {
        Path { up: Some(self), at: At::Field(field) }
    }

    /// An item of the list that is here.
    #[must_use]
    pub const fn index(&self, index: usize) -> Path<'_> {
        Path { up: Some(self), at: At::Index(index) }
    }

    /// An item of the list in a field of the value here.
    #[must_use]
    pub const fn item<'c>(&'c self, field: &'c str, index: usize) -> Path<'c> {
        Path { up: Some(self), at: At::Item(field, index) }
    }

    /// An entry of the map that is here.
    #[must_use]
    pub const fn key<'c>(&'c self, key: &'c str) -> Path<'c> {
        Path { up: Some(self), at: At::Key(key) }
    }

    /// The place of the value's schema: the path with `[]` for every item and every entry.
    pub fn of_schema(&self) -> String {
        let mut place = self.up.map(Path::of_schema).unwrap_or_default();
        let dot = if place.is_empty() { "" } else { "." };
        match self.at {
            At::Root => {}
            At::Field(field) => place.extend([dot, field]),
            At::Item(field, _) => place.extend([dot, field, "[]"]),
            At::Index(_) | At::Key(_) => place.push_str("[]"),
        }
        place
    }

    /// Whether this is the object itself.
    pub const fn is_root(&self) -> bool {
        matches!(self.at, At::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(up) = self.up {
            up.fmt(f)?;
        }
        let dot = if self.up.is_none_or(Path::is_root) { "" } else { "." };
        match self.at {
            At::Root => Ok(()),
            At::Field(field) => write!(f, "{dot}{field}"),
            At::Item(field, index) => write!(f, "{dot}{field}[{index}]"),
            At::Index(index) => write!(f, "[{index}]"),
            At::Key(key) => write!(f, "[{key}]"),
        }
    }
}

impl From<Path<'_>> for String {
    fn from(path: Path<'_>) -> String {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn paths_are_written_as_go_writes_them() {
        let spec = Path::ROOT.child("spec");
        assert_eq!(spec.to_string(), "spec");
        let limit = spec.item("containers", 1).child("resources.limits").key("cpu").to_string();
        assert_eq!(limit, "spec.containers[1].resources.limits[cpu]");
        assert_eq!(
            Path::new("template").child("volumes").index(0).child("name").to_string(),
            "template.volumes[0].name"
        );
        assert_eq!(Path::ROOT.to_string(), "");
        let item = spec.item("lists", 1).index(2).key("a").child("b").of_schema();
        assert_eq!((item.as_str(), Path::ROOT.of_schema().as_str()), ("spec.lists[][][].b", ""));
    }
}
