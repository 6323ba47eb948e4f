//! The feature gates of the pages about the process, and the flags that one of them tells.

use std::collections::BTreeMap;

/// The pages, as the builder's calls describe them.
pub(super) struct PageGates {
    pub(super) flagz: bool,
    pub(super) statusz: bool,
    /// The flags that were said to be those of the program; `None` if the server tells those that describe it.
    pub(super) flags: Option<BTreeMap<String, String>>,
}

impl Default for PageGates {
    fn default() -> Self {
        PageGates { flagz: true, statusz: true, flags: None }
    }
}

impl PageGates {
    /// The paths that roles for monitoring do not name, as they are not served.
    pub(super) fn unserved(&self) -> Vec<&'static str> {
        let pages = [("/flagz", self.flagz), ("/statusz", self.statusz)];
        pages.into_iter().filter(|(_, is_on)| !is_on).map(|(path, _)| path).collect()
    }
}
