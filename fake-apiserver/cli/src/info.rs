//! The line of JSON that tells a wrapper in any language all it needs: where the server and its control port are, and what opens them.

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fake_apiserver::FakeApiServer;
use fake_apiserver_cli::control::Door;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;

/// The line about a server, with its control port if it has one.
pub(crate) fn line(server: &FakeApiServer, door: Option<&Door>) -> Value {
    let replicas: Vec<String> = server.replicas().iter().map(|replica| replica.url()).collect();
    let mut line = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "server": server.url(),
        "replicas": replicas,
        "caData": server.ca_pem().map(|pem| STANDARD.encode(pem)),
        "token": server.admin_token(),
        "kubeconfig": server.kubeconfig(),
    });
    if let Some(door) = door {
        line["control"] = json!({"url": door.url(), "token": door.token()});
    }
    line
}

/// Writes the line to a file that only its owner can read, all at once.
///
/// # Errors
/// The errors of the file system; then there is no file, or the one that was there.
pub(crate) fn write(line: &Value, path: &Path) -> anyhow::Result<()> {
    let failed = || format!("unable to write --info {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Such a file is its owner's alone from the beginning.
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    writeln!(file, "{line}").with_context(failed)?;
    file.persist(path).map_err(|error| error.error).with_context(failed)?;
    Ok(())
}
