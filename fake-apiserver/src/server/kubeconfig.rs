//! A kubeconfig: how kubectl and every other client finds the server, trusts it and is known to it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write};
use std::path::Path;

/// Name of the one cluster, user and context.
const NAME: &str = "fake-apiserver";

/// The file's text. `authority_pem` are the certificates to trust, `None` for plain HTTP; over which kubectl sends no
/// token.
pub(crate) fn render(server: &str, authority_pem: Option<&str>, token: &str) -> String {
    let authority = authority_pem
        .map(|pem| format!("    certificate-authority-data: {}\n", STANDARD.encode(pem)))
        .unwrap_or_default();
    format!(
        "apiVersion: v1
kind: Config
current-context: {NAME}
clusters:
- name: {NAME}
  cluster:
    server: {server}
{authority}contexts:
- name: {NAME}
  context:
    cluster: {NAME}
    user: {NAME}
users:
- name: {NAME}
  user:
    token: {token}
",
        server = quote(server),
        token = quote(token),
    )
}

/// Writes a file, for its owner alone to read. It appears whole or not at all: whoever waits for it never sees a part.
///
/// # Errors
/// When the file cannot be written beside its final place, or cannot take it.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = create_private(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&temporary, path));
    written.or_else(|error| match std::fs::remove_file(&temporary) {
        // Whether or not there was something to remove, the first failure is the one to tell of.
        Ok(()) | Err(_) => Err(error),
    })
}

/// A double-quoted YAML scalar, of which JSON strings are a kind.
fn quote(text: &str) -> serde_json::Value {
    text.into()
}

fn create_private(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text() {
        assert_eq!(
            render("https://127.0.0.1:6443", Some("PEM"), "a: \"b\""),
            "apiVersion: v1
kind: Config
current-context: fake-apiserver
clusters:
- name: fake-apiserver
  cluster:
    server: \"https://127.0.0.1:6443\"
    certificate-authority-data: UEVN
contexts:
- name: fake-apiserver
  context:
    cluster: fake-apiserver
    user: fake-apiserver
users:
- name: fake-apiserver
  user:
    token: \"a: \\\"b\\\"\"
"
        );
        assert!(!render("http://[::1]:8080", None, "t").contains("certificate-authority"));
    }

    #[test]
    fn files_are_private_and_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        std::fs::write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let error = write(&directory.path().join("missing/kubeconfig"), "new").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        std::fs::create_dir(directory.path().join("taken")).unwrap();
        write(&directory.path().join("taken"), "new").unwrap_err();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2, "nothing is left behind");
    }
}
