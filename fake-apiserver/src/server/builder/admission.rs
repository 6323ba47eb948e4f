//! Which admission plugins there are. All flags that are named here are kube-apiserver's.

use super::Builder;

impl Builder {
    /// Admission plugins that are on besides those that always are (`--enable-admission-plugins`); none by default.
    /// A name that this server does not have fails its start.
    #[must_use]
    pub fn enable_admission_plugins<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.enabled_plugins = names.into_iter().map(Into::into).collect();
        self
    }

    /// Admission plugins that are off (`--disable-admission-plugins`). To name one that is always on fails the start.
    #[must_use]
    pub fn disable_admission_plugins<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.disabled_plugins = names.into_iter().map(Into::into).collect();
        self
    }
}
