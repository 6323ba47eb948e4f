//! `cargo xtask schema`: writes anew what `fake-apiserver` knows of Kubernetes' Go types, and the vectors that it is
//! measured by. The programs that do it are in Go, as are the types, and live in `xtask/schema`.

use anyhow::{Context, bail, ensure};
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// The Go programs, and what each writes.
const PROGRAMS: [(&str, &str); 2] = [(".", "fake-apiserver/src/schema/types.txt"), ("./vectors", "fixtures/schema")];

/// Runs the generators. The outcome depends on nothing but their pinned modules.
///
/// # Errors
/// If Go is missing, or a generator meets a type that the server has no notion of.
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
