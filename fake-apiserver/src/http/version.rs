//! The document at `/version`.

use super::json::encode;
use crate::version::{MAJOR, MINOR, git_version, platform};
use serde::Serialize;

/// `version.Info` of apimachinery, in the key order of the wire.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    major: String,
    minor: String,
    emulation_major: String,
    emulation_minor: String,
    min_compatibility_major: String,
    min_compatibility_minor: String,
    git_version: String,
    git_commit: &'static str,
    git_tree_state: &'static str,
    build_date: &'static str,
    go_version: &'static str,
    compiler: &'static str,
    platform: String,
}

/// The document.
pub(crate) fn document() -> Vec<u8> {
    encode(&info())
}

/// The facts about the build are those of unstamped builds of Kubernetes, so that `kubectl --match-server-version` takes a client that is
/// built the same way.
fn info() -> Info {
    Info {
        major: MAJOR.to_string(),
        minor: MINOR.to_string(),
        emulation_major: MAJOR.to_string(),
        emulation_minor: MINOR.to_string(),
        min_compatibility_major: MAJOR.to_string(),
        min_compatibility_minor: (MINOR - 1).to_string(),
        git_version: git_version(),
        git_commit: "$Format:%H$",
        git_tree_state: "",
        build_date: "1970-01-01T00:00:00Z",
        go_version: "",
        compiler: "rustc",
        platform: platform(),
    }
}

/// The labels of the metric of the version, sorted.
pub(super) fn labels() -> [(&'static str, String); 9] {
    let info = info();
    [
        ("build_date", info.build_date.to_owned()),
        ("compiler", info.compiler.to_owned()),
        ("git_commit", info.git_commit.to_owned()),
        ("git_tree_state", info.git_tree_state.to_owned()),
        ("git_version", info.git_version),
        ("go_version", info.go_version.to_owned()),
        ("major", info.major),
        ("minor", info.minor),
        ("platform", info.platform),
    ]
}

/// The labels of the metric of compatibility, sorted.
pub(super) fn compatibility() -> [(&'static str, String); 4] {
    [
        ("binary", git_version().trim_start_matches('v').to_owned()),
        ("component", "kube".to_owned()),
        ("emulation", format!("{MAJOR}.{MINOR}")),
        ("min_compat", format!("{MAJOR}.{}", MINOR - 1)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of kube-apiserver 1.37, in its order.
    #[test]
    fn keys() {
        let text = String::from_utf8(document()).unwrap();
        let pairs = text.trim_matches(['{', '}']).split(',');
        let keys: Vec<&str> = pairs.filter_map(|pair| pair.split('"').nth(1)).collect();
        assert_eq!(
            keys,
            [
                "major",
                "minor",
                "emulationMajor",
                "emulationMinor",
                "minCompatibilityMajor",
                "minCompatibilityMinor",
                "gitVersion",
                "gitCommit",
                "gitTreeState",
                "buildDate",
                "goVersion",
                "compiler",
                "platform"
            ]
        );
    }
}
