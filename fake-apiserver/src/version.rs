//! The emulated version of Kubernetes, stated in the server nowhere else.

/// Major version.
pub const MAJOR: u32 = 1;
/// Minor version.
pub const MINOR: u32 = 37;
/// Patch version.
pub const PATCH: u32 = 1;

/// The version as in `gitVersion`, such as `v1.37.1`.
pub fn git_version() -> String {
    format!("v{MAJOR}.{MINOR}.{PATCH}")
}

/// The platform as Go names it, such as `linux/amd64`.
pub(crate) fn platform() -> String {
    format!("{}/{}", std::env::consts::OS, go_architecture(std::env::consts::ARCH))
}

fn go_architecture(architecture: &str) -> &str {
    match architecture {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
