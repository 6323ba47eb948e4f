//! `cargo xtask schema`: regenerates the data about Kubernetes' Go types, and the test vectors for it and for custom resources, with
//! Go programs: those in `xtask/schema`, and those that take the packages of the real control plane.

use anyhow::{Context, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Go programs, each with its module and its outputs.
const PROGRAMS: [(&str, &str, &[&str]); 17] = [
    (
        "xtask/schema",
        ".",
        &["fake-apiserver/machinery/src/schema/types.txt", "fake-apiserver/machinery/src/schema/types_optional.txt"],
    ),
    ("xtask/schema", "./vectors", &["fixtures/schema"]),
    ("xtask/schema", "./cel", &["fixtures/cel", "fake-apiserver/cel/src/functions.txt"]),
    ("xtask/schema", "./zones", &["fake-apiserver/src/registry/batch/time_zones.txt"]),
    ("conformance/control-plane", "./internals", &["fake-apiserver/machinery/src/schema/internals.txt"]),
    (
        "conformance/control-plane",
        "./checks",
        &[
            "fake-apiserver/src/registry/declarative/checks.txt",
            "fake-apiserver/src/registry/declarative/checks_optional.txt",
        ],
    ),
    ("conformance/control-plane", "./flags", &["fake-apiserver/cli/src/flags/recorded.txt"]),
    ("conformance/control-plane", "./gates", &["fake-apiserver/cli/src/flags/gates.txt"]),
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

/// The options.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only the programs with this in their names or those of their outputs
    only: Option<String>,
    /// Compare, and leave the files as they are
    #[arg(long)]
    check: bool,
}

/// Runs the generators. The output depends on nothing but their pinned modules.
///
/// # Errors
/// If Go is missing, or a generator finds a type that the schema cannot express; if an output differs that is checked.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    let is_wanted = |text: &str| options.only.as_ref().is_none_or(|only| text.contains(only));
    let mut different = Vec::new();
    for (module, program, outputs) in PROGRAMS {
        if !is_wanted(program) && !outputs.iter().any(|output| is_wanted(output)) {
            continue;
        }
        let before = if options.check { Some(contents(root, outputs)?) } else { None };
        let mut go = Command::new("go");
        go.args(["run", program]).args(outputs.iter().map(|output| root.join(output))).current_dir(root.join(module));
        match go.status() {
            Ok(status) => ensure!(status.success(), "`go run {program}` in {module} failed: {status}"),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!("`go` is not on the PATH; this task needs Go 1.26")
            }
            Err(error) => return Err(error).context("`go` does not start"),
        }
        match before {
            None => println!("wrote {}", outputs.join(", ")),
            Some(before) => {
                let after = contents(root, outputs)?;
                different.extend(after.keys().filter(|file| before.get(*file) != after.get(*file)).cloned());
                for (file, content) in &before {
                    fs::write(file, content).with_context(|| format!("unable to restore {}", file.display()))?;
                }
            }
        }
    }
    ensure!(different.is_empty(), "these are not as Go writes them: {different:?}");
    Ok(())
}

/// The contents of files, and of all files in folders.
fn contents(root: &Path, outputs: &[&str]) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left: Vec<PathBuf> = outputs.iter().map(|output| root.join(output)).collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                left.push(entry?.path());
            }
        } else if path.exists() {
            let content = fs::read(&path)?;
            found.insert(path, content);
        }
    }
    Ok(found)
}
