//! Kubeconfig files, with the server's address and certificates and a client's credentials.

use crate::deadline::Deadline;
use crate::yaml;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use tree::Value;

/// The name of the cluster, of the user and of the context.
const NAME: &str = "fake-apiserver";

/// The content of a kubeconfig. `Display` writes the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kubeconfig {
    /// URL of the server.
    pub(super) server: String,
    /// The name to ask TLS for, if it is not that in the URL.
    pub(super) server_name: Option<String>,
    /// PEM of the certificates to trust; `None` for plain HTTP.
    pub(super) authority_pem: Option<String>,
    /// Bearer token; `None` for anonymous. kubectl does not send it over plain HTTP.
    pub(super) token: Option<String>,
}

impl fmt::Display for Kubeconfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "apiVersion: v1\nkind: Config\ncurrent-context: {NAME}")?;
        writeln!(f, "clusters:\n- name: {NAME}\n  cluster:\n    server: {}", quote(&self.server))?;
        if let Some(pem) = &self.authority_pem {
            writeln!(f, "    certificate-authority-data: {}", STANDARD.encode(pem))?;
        }
        if let Some(name) = &self.server_name {
            writeln!(f, "    tls-server-name: {}", quote(name))?;
        }
        writeln!(f, "contexts:\n- name: {NAME}\n  context:\n    cluster: {NAME}\n    user: {NAME}")?;
        match &self.token {
            Some(token) => writeln!(f, "users:\n- name: {NAME}\n  user:\n    token: {}", quote(token)),
            None => writeln!(f, "users:\n- name: {NAME}\n  user: {{}}"),
        }
    }
}

impl Kubeconfig {
    /// Writes the file, readable only by its owner. It is written under another name and renamed, so that it is never seen
    /// incomplete.
    ///
    /// # Errors
    /// If there is a kubeconfig with other clusters, users or contexts, which would be lost; or if the file cannot be written or renamed.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        if let Ok(text) = std::fs::read(path) {
            let others = others(&text);
            if !others.is_empty() {
                let why = format!("it has {}, which would be lost", others.join(", "));
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
            }
        }
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let written = create_private(&temporary)
            .and_then(|mut file| file.write_all(self.to_string().as_bytes()))
            .and_then(|()| std::fs::rename(&temporary, path));
        written.map_err(|error| match std::fs::remove_file(&temporary) {
            // The first error is returned, whether or not there was a file to remove.
            Ok(()) | Err(_) => error,
        })
    }
}

/// The clusters, users and contexts in a kubeconfig that are not those of this program; none in other texts.
fn others(text: &[u8]) -> Vec<String> {
    let Ok(document) = yaml::parse(text, &Deadline::default()) else { return Vec::new() };
    let named = |list: &'static str, what: &'static str| {
        let items = document.value.get(list).and_then(Value::as_array).into_iter().flatten();
        let names = items.filter_map(|item| item.get("name").and_then(Value::as_str)).filter(|name| *name != NAME);
        names.map(|name| format!("the {what} {name:?}")).collect::<Vec<_>>()
    };
    [("contexts", "context"), ("clusters", "cluster"), ("users", "user")]
        .into_iter()
        .flat_map(|(list, what)| named(list, what))
        .collect()
}

/// A double-quoted YAML scalar, as every JSON string is one.
fn quote(text: &str) -> tree::Value {
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
        let full = Kubeconfig {
            server: "https://127.0.0.1:6443".into(),
            server_name: Some("one.clusters.fake".into()),
            authority_pem: Some("PEM".into()),
            token: Some("a: \"b\"".into()),
        };
        assert_eq!(
            full.to_string(),
            "apiVersion: v1
kind: Config
current-context: fake-apiserver
clusters:
- name: fake-apiserver
  cluster:
    server: \"https://127.0.0.1:6443\"
    certificate-authority-data: UEVN
    tls-server-name: \"one.clusters.fake\"
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
        let plain =
            Kubeconfig { server: "http://[::1]:8080".into(), server_name: None, authority_pem: None, token: None };
        let plain = plain.to_string();
        assert!(plain.ends_with("users:\n- name: fake-apiserver\n  user: {}\n"), "{plain}");
        assert!(!plain.contains("certificate-authority"), "{plain}");
    }

    #[test]
    fn files_are_private_and_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kubeconfig");
        let kubeconfig = Kubeconfig { server: "http://x".into(), server_name: None, authority_pem: None, token: None };
        std::fs::write(&path, "old").unwrap();
        kubeconfig.write(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), kubeconfig.to_string());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        // Once more, over its own.
        kubeconfig.write(&path).unwrap();
        let others = "clusters: [{name: prod}]\nusers: []\ncontexts: [{name: fake-apiserver}, {name: work}]\n";
        std::fs::write(&path, others).unwrap();
        let error = kubeconfig.write(&path).unwrap_err();
        assert_eq!(error.to_string(), "it has the context \"work\", the cluster \"prod\", which would be lost");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), others);
        let error = kubeconfig.write(&directory.path().join("missing/kubeconfig")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
