//! The objects of a write in the versions that rules have matched, each converted and encoded once.

use super::Attributes;
use super::cel::Subject;
use super::matching::{Matched, new_object, old_object};
use crate::error::ApiResult;
use bytes::Bytes;
use std::borrow::Cow;
use std::sync::OnceLock;
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
    encoded: OnceLock<Encoded>,
}

/// The objects of a write in one version as JSON, which all share to whom they are shown.
#[derive(Debug, Clone)]
pub(crate) struct Encoded {
    /// The object as it will be, or `null`.
    pub(crate) object: Bytes,
    /// The object as it was, or `null`.
    pub(crate) old: Bytes,
}

impl<'w, 'o> Versions<'w, 'o> {
    /// The versions of the objects of a write.
    pub(crate) fn new(write: &'w Attributes<'w>, object: &'o Value) -> Self {
        Versions { write, object, known: Vec::new() }
    }

    /// The object of the write.
    pub(crate) fn object(&self) -> &'o Value {
        self.object
    }

    /// The write with its objects in that version.
    ///
    /// # Errors
    /// 500, if a webhook should convert them and does not.
    pub(crate) async fn subject(&mut self, matched: Matched<'w>) -> ApiResult<Subject<'_>> {
        let write = self.write;
        let known = self.version(matched).await?;
        Ok(Subject { write, matched, object: &known.object, old: known.old.as_deref() })
    }

    /// The objects in that version as JSON.
    ///
    /// # Errors
    /// As [`Self::subject`].
    pub(crate) async fn encoded(&mut self, matched: Matched<'w>) -> ApiResult<Encoded> {
        let known = self.version(matched).await?;
        let encode = |object: &Value| Bytes::from(matched.json(object));
        let encoded = known.encoded.get_or_init(|| Encoded {
            object: encode(&known.object),
            old: encode(known.old.as_deref().unwrap_or(&Value::Null)),
        });
        Ok(encoded.clone())
    }

    async fn version(&mut self, matched: Matched<'w>) -> ApiResult<&Version<'w, 'o>> {
        let known = self.known.iter().position(|known| known.matched.kind == matched.kind);
        let place = match known {
            Some(place) => place,
            None => {
                let object = new_object(self.write, self.object, matched).await?;
                let old = old_object(self.write, matched).await?;
                self.known.push(Version { matched, object, old, encoded: OnceLock::new() });
                self.known.len() - 1
            }
        };
        Ok(&self.known[place])
    }
}
