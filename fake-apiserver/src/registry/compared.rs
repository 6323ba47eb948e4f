//! Objects of a kind as Go compares them, for those who have no rules of the kind.

use super::cursor::At;
use tree::Value;

/// A kind with its `apiVersion`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared(pub(crate) &'static str, pub(crate) &'static str);

impl Compared {
    /// Whether a field is the same to Go in both objects (`apiequality.Semantic.DeepEqual`); dots descend.
    ///
    /// # Panics
    /// In debug builds, if the Go type has no such field.
    pub(crate) fn has_same(self, field: &str, a: &Value, b: &Value) -> bool {
        let (a, b) = (At::object(a, self.0, self.1), At::object(b, self.0, self.1));
        a.field(field).equals(&b.field(field))
    }

    /// The difference of two objects in a message (`diff.Diff`); `None` if Go sees none.
    pub(crate) fn difference(self, old: &Value, new: &Value) -> Option<String> {
        let (old, new) = (At::object(old, self.0, self.1), At::object(new, self.0, self.1));
        (!new.equals(&old)).then(|| new.difference_from(&old))
    }
}
