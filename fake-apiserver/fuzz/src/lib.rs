//! The fuzz targets: functions of bytes that panic if an invariant does not hold.
//!
//! An input may be refused; but a parser must not panic, lose data between decoding and encoding, or contradict another
//! parser of the same format. Each target is a pure function of its input, so that failures are reproducible.
//!
//! `cargo xtask fuzz` runs them with coverage; `tests/corpus.rs` replays `fixtures/corpus/TARGET/` in every test run.

mod credentials;
mod documents;
mod managers;
mod patches;
mod request;
mod rules;
mod scenarios;
pub mod seeds;
mod texts;
mod wire;

/// A fuzz target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name, which is also that of its corpus.
    pub name: &'static str,
    /// Runs it.
    ///
    /// # Panics
    /// If an invariant does not hold.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 25] = [
    Target { name: "apply", run: managers::apply },
    Target { name: "bearer-token", run: credentials::bearer_token },
    Target { name: "certificate", run: credentials::certificate },
    Target { name: "continue-token", run: texts::continue_token },
    Target { name: "duration", run: texts::duration },
    Target { name: "field-selector", run: texts::field_selector },
    Target { name: "field-set", run: managers::field_set },
    Target { name: "json", run: documents::json },
    Target { name: "json-patch", run: patches::json_patch },
    Target { name: "label-selector", run: texts::label_selector },
    Target { name: "merge-patch", run: patches::merge_patch },
    Target { name: "name", run: texts::name },
    Target { name: "path", run: texts::path },
    Target { name: "protobuf", run: wire::protobuf },
    Target { name: "quantity", run: texts::quantity },
    Target { name: "query", run: texts::query },
    Target { name: "request", run: request::request },
    Target { name: "rules", run: rules::rules },
    Target { name: "scenario", run: scenarios::scenario },
    Target { name: "strategic-patch", run: patches::strategic_patch },
    Target { name: "time", run: texts::time },
    Target { name: "token-file", run: credentials::token_file },
    Target { name: "untyped-json", run: documents::untyped_json },
    Target { name: "yaml", run: documents::yaml },
    Target { name: "yaml-print", run: documents::yaml_print },
];

/// The target of that name.
pub const fn target(name: &str) -> Option<Target> {
    let mut index = 0;
    while index < TARGETS.len() {
        if is_same(TARGETS[index].name.as_bytes(), name.as_bytes()) {
            return Some(TARGETS[index]);
        }
        index += 1;
    }
    None
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}
