//! The version of Kubernetes that is emulated: stated here, and nowhere else.

/// Major version.
pub const MAJOR: u32 = 1;
/// Minor version.
pub const MINOR: u32 = 37;
/// Patch version.
pub const PATCH: u32 = 1;

/// `v1.37.1` and the like, as `gitVersion` shows it.
pub fn git_version() -> String {
    format!("v{MAJOR}.{MINOR}.{PATCH}")
}
