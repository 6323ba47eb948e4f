//! `cargo xtask schema`: regenerates the data about Kubernetes' Go types, and the test vectors for it and for custom resources, with
//! Go programs: those in `xtask/schema`, and those that take the packages of the real control plane.

use anyhow::{Context, bail, ensure};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// The Go programs, each with its module and its outputs.
const PROGRAMS: [(&str, &str, &[&str]); 15] = [
    ("xtask/schema", ".", &["fake-apiserver/machinery/src/schema/types.txt"]),
    ("xtask/schema", "./vectors", &["fixtures/schema"]),
    ("xtask/schema", "./cel", &["fixtures/cel", "fake-apiserver/cel/src/functions.txt"]),
    ("xtask/schema", "./zones", &["fake-apiserver/src/registry/batch/time_zones.txt"]),
    ("conformance/control-plane", "./internals", &["fake-apiserver/machinery/src/schema/internals.txt"]),
    ("conformance/control-plane", "./checks", &["fake-apiserver/src/registry/declarative/checks.txt"]),
    ("conformance/control-plane", "./accept", &["fixtures/accept.jsonl"]),
    ("conformance/control-plane", "./certificates", &["fixtures/x509/verified.jsonl"]),
    ("conformance/control-plane", "./parsed", &["fixtures/x509/parsed.jsonl"]),
    ("conformance/control-plane", "./definitions", &["fixtures/custom/definitions.jsonl"]),
    ("conformance/control-plane", "./values", &["fixtures/custom/values.jsonl", "fixtures/custom/rules.jsonl"]),
    ("conformance/control-plane", "./managers", &["fixtures/managers/values.jsonl", "fixtures/managers/stories.jsonl"]),
    ("conformance/control-plane", "./patches", &["fixtures/patches/strategic.jsonl"]),
    ("conformance/control-plane", "./yaml", &["fixtures/yaml/read.jsonl", "fixtures/yaml/printed.jsonl"]),
    (
        "conformance/control-plane",
        "./openapi",
        &["fake-apiserver/src/discovery/openapi/template.txt", "fixtures/custom/openapi.jsonl"],
    ),
];

/// Runs the generators. The output depends on nothing but their pinned modules.
///
/// # Errors
/// If Go is missing, or a generator finds a type that the schema cannot express.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    for (module, program, outputs) in PROGRAMS {
        let mut go = Command::new("go");
        go.args(["run", program]).args(outputs.iter().map(|output| root.join(output))).current_dir(root.join(module));
        match go.status() {
            Ok(status) => ensure!(status.success(), "`go run {program}` in {module} failed: {status}"),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!("`go` is not on the PATH; this task needs Go 1.26")
            }
            Err(error) => return Err(error).context("`go` does not start"),
        }
        println!("wrote {}", outputs.join(", "));
    }
    Ok(())
}
