//! Feature gates: which ones kube-apiserver has is recorded (`cargo xtask schema`), in `gates.txt`, a line each: its name, stage, default, and
//! `locked` if it has no other value.
//!
//! Follows `k8s.io/component-base/featuregate` (v0.37.1).

use super::values::go_bool;
use std::sync::LazyLock;

/// The setting of a gate that has an effect, by its value.
type Effect = fn(bool) -> Setting;

/// The gates that this server obeys both ways. kube-apiserver has the first one no more: whether pods have tokens that are bound to them.
const OBEYED: [(&str, Effect); 4] = [
    ("BoundServiceAccountTokenVolume", Setting::BoundTokens),
    ("ComponentFlagz", Setting::Flagz),
    ("ComponentStatusz", Setting::Statusz),
    ("ManifestBasedAdmissionControlConfig", Setting::Manifests),
];
/// The component of a gate that names none.
const COMPONENT: &str = "kube:";

struct Gate {
    name: &'static str,
    stage: &'static str,
    default: bool,
    is_locked: bool,
}

static GATES: LazyLock<Vec<Gate>> = LazyLock::new(|| include_str!("gates.txt").lines().map(Gate::parse).collect());

impl Gate {
    /// Reads a line of the record.
    fn parse(line: &'static str) -> Gate {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default();
        Gate { name: word(), stage: word(), default: word() == "true", is_locked: word() == "locked" }
    }
}

/// A gate that has an effect, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// Pods have tokens that are bound to them, or the token in a secret.
    BoundTokens(bool),
    /// `/flagz` is served.
    Flagz(bool),
    /// `/statusz` is served.
    Statusz(bool),
    /// Webhooks and policies may be in files.
    Manifests(bool),
    /// The default of a gate.
    Default,
}

/// The setting of a gate: `Gate=BOOL` or `kube:Gate=BOOL`.
///
/// # Errors
/// kube-apiserver's message, or one that says that the gate has its default only.
pub(super) fn setting(text: &str) -> Result<Setting, String> {
    let text = text.trim();
    let (name, value) = text.strip_prefix(COMPONENT).unwrap_or(text).split_once('=').ok_or("not GATE=BOOL")?;
    let value = go_bool(value.trim()).map_err(|why| format!("invalid value of {name}: {why}"))?;
    if let Some((_, setting)) = OBEYED.iter().find(|(gate, _)| *gate == name) {
        return Ok(setting(value));
    }
    match GATES.iter().find(|gate| gate.name == name) {
        None => Err(format!("unrecognized feature gate: {name}")),
        Some(gate) if gate.default == value => Ok(Setting::Default),
        Some(Gate { default, is_locked: true, .. }) => {
            Err(format!("cannot set feature gate {name} to {value}, feature is locked to {default}"))
        }
        Some(Gate { default, stage, .. }) => {
            Err(format!("fake-apiserver has the feature gate {name} ({stage}) only with its default, {default}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_have_their_defaults() {
        for (text, expected) in [
            ("BoundServiceAccountTokenVolume=false", Ok(Setting::BoundTokens(false))),
            ("APIResponseCompression=true", Ok(Setting::Default)),
            ("ComponentFlagz=false", Ok(Setting::Flagz(false))),
            ("ManifestBasedAdmissionControlConfig=false", Ok(Setting::Manifests(false))),
            ("kube:ComponentStatusz=true", Ok(Setting::Statusz(true))),
            ("kube:AllAlpha=F", Ok(Setting::Default)),
            ("AllAlpha=true", Err("fake-apiserver has the feature gate AllAlpha (alpha) only with its default, false")),
            ("Foo=true", Err("unrecognized feature gate: Foo")),
            ("AllAlpha", Err("not GATE=BOOL")),
            ("AllAlpha=x", Err("invalid value of AllAlpha: neither true nor false")),
        ] {
            assert_eq!(setting(text), expected.map_err(str::to_owned), "{text}");
        }
        let locked = GATES.iter().find(|gate| gate.is_locked).expect("one that is locked");
        let (name, wrong, right) = (locked.name, !locked.default, locked.default);
        let expected = format!("cannot set feature gate {name} to {wrong}, feature is locked to {right}");
        assert_eq!(setting(&format!("{name}={wrong}")), Err(expected));
    }
}
