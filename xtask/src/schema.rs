//! `cargo xtask schema`: regenerates the data about Kubernetes' Go types, and the test vectors for it, with the Go
//! programs in `xtask/schema`.

use anyhow::{Context, bail, ensure};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// The Go programs, each with its output.
const PROGRAMS: [(&str, &str); 2] = [(".", "fake-apiserver/src/schema/types.txt"), ("./vectors", "fixtures/schema")];

/// Runs the generators. The output depends on nothing but their pinned modules.
///
/// # Errors
/// If Go is missing, or a generator finds a type that the schema cannot express.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the workspace")?;
    for (program, output) in PROGRAMS {
        let mut go = Command::new("go");
        go.args(["run", program]).arg(root.join(output)).current_dir(root.join("xtask/schema"));
        match go.status() {
            Ok(status) => ensure!(status.success(), "`go run {program}` in xtask/schema failed: {status}"),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!("`go` is not on the PATH; this task needs Go 1.26")
            }
            Err(error) => return Err(error).context("`go` does not start"),
        }
        println!("wrote {output}");
    }
    Ok(())
}
