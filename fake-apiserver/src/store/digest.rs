//! The digest of an object: all that readers need of it, in a form of their own. Its writer makes it before the object can be seen, so that
//! no reader has to parse the object while others wait.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The digest of an object. Clones share it.
#[derive(Clone)]
pub struct Digest {
    content: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

impl Digest {
    /// A digest that takes about `bytes` bytes of memory.
    pub fn new<T: Any + Send + Sync>(content: T, bytes: usize) -> Digest {
        Digest { content: Arc::new(content), bytes }
    }

    /// The content, if that is a `T`.
    pub fn content<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.content.clone().downcast().ok()
    }

    /// The memory that it keeps, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl PartialEq for Digest {
    /// Whether both are the same one: contents cannot be compared.
    fn eq(&self, other: &Digest) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
    }
}

impl Eq for Digest {}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Digest").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
