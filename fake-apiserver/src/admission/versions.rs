//! The objects of a write in the versions that rules have matched, each converted once.

use super::Attributes;
use super::cel::Subject;
use super::matching::{Matched, new_object, old_object};
use crate::error::ApiResult;
use std::borrow::Cow;
use tree::Value;

/// The objects by version.
pub(crate) struct Versions<'w, 'o> {
    write: &'w Attributes<'w>,
    object: &'o Value,
    known: Vec<Version<'w, 'o>>,
}

struct Version<'w, 'o> {
    matched: Matched<'w>,
    object: Cow<'o, Value>,
    old: Option<Cow<'w, Value>>,
}

impl<'w, 'o> Versions<'w, 'o> {
    /// The versions of the objects of a write.
    pub(crate) fn new(write: &'w Attributes<'w>, object: &'o Value) -> Self {
        Versions { write, object, known: Vec::new() }
    }

    /// The write with its objects in that version.
    ///
    /// # Errors
    /// 500, if a webhook should convert them and does not.
    pub(crate) async fn subject(&mut self, matched: Matched<'w>) -> ApiResult<Subject<'_>> {
        let known = self.known.iter().position(|known| known.matched.kind == matched.kind);
        let place = match known {
            Some(place) => place,
            None => {
                let object = new_object(self.write, self.object, matched).await?;
                let old = old_object(self.write, matched).await?;
                self.known.push(Version { matched, object, old });
                self.known.len() - 1
            }
        };
        let known = &self.known[place];
        Ok(Subject { write: self.write, matched, object: &known.object, old: known.old.as_deref() })
    }
}
