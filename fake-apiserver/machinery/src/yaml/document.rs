//! A document, and the finding about its repeated keys.

use tree::Value;

/// A document.
#[derive(Debug, PartialEq)]
pub struct Document {
    /// Its value, without the values of keys that stand behind the same key.
    pub value: Value,
    /// The keys that are repeated: `line 2: key "a" already set in map`.
    pub repeated: Vec<String>,
}

impl Document {
    /// The finding of strict decoding, if keys are repeated.
    pub fn finding(&self) -> Option<String> {
        (!self.repeated.is_empty()).then(|| format!("{REPEATED}  {}", self.repeated.join("\n  ")))
    }
}

const REPEATED: &str = "yaml: unmarshal errors:\n";

/// The warnings that a finding of strict decoding is sent as: one for each key, if it is about keys of YAML.
pub fn warnings(finding: &str) -> impl Iterator<Item = String> {
    let lines = finding.strip_prefix(REPEATED);
    let whole = lines.is_none().then(|| finding.to_owned());
    whole.into_iter().chain(lines.into_iter().flat_map(str::lines).map(|line| line.trim().to_owned()))
}
