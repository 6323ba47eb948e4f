//! The pages about the process that a server has.

use std::collections::BTreeMap;

/// The path of the flags.
pub(super) const FLAGZ: &str = "/flagz";
/// The path of the status.
pub(super) const STATUSZ: &str = "/statusz";

/// The pages that a server has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pages {
    /// The flags that the server was started with; `None` without `/flagz`.
    pub(crate) flags: Option<BTreeMap<String, String>>,
    /// Whether there is `/statusz`.
    pub(crate) status: bool,
}

impl Pages {
    /// The paths of the pages.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'static str> {
        self.flags.as_ref().map(|_| FLAGZ).into_iter().chain(self.status.then_some(STATUSZ))
    }
}
