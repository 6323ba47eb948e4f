//! The folder of the serving certificate: `apiserver.crt` and `apiserver.key`.
//!
//! Follows `MaybeDefaultWithSelfSignedCerts` of `k8s.io/apiserver/pkg/server/options/serving.go` (v0.37.1).

use super::tls::{IdentityError, Pair};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The paths of the pair in that folder.
fn paths(folder: &Path) -> [PathBuf; 2] {
    ["apiserver.crt", "apiserver.key"].map(|name| folder.join(name))
}

/// The pair in that folder; none, if neither file can be read (`CanReadCertAndKey`).
///
/// # Errors
/// If only one of them can be read.
pub(super) fn read(folder: &Path) -> Result<Option<Pair>, IdentityError> {
    let paths = paths(folder);
    match paths.each_ref().map(fs::read_to_string) {
        [Ok(certificate), Ok(key)] => Ok(Some(Pair { certificate, key })),
        [Err(_), Err(_)] => Ok(None),
        [certificate, _] => {
            let [certificate_path, key_path] = paths;
            let path = if certificate.is_err() { certificate_path } else { key_path };
            Err(IdentityError::NoPair { path })
        }
    }
}

/// Writes a pair to that folder, which is made if needed: the key for its owner only.
///
/// # Errors
/// If the folder cannot be written to.
pub(super) fn write(folder: &Path, pair: &Pair) -> Result<(), IdentityError> {
    let failed = |source| IdentityError::Folder { path: folder.into(), source };
    let [certificate, key] = paths(folder);
    fs::create_dir_all(folder).map_err(failed)?;
    create(&certificate, 0o644, &pair.certificate).map_err(failed)?;
    create(&key, 0o600, &pair.key).map_err(failed)
}

fn create(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        assert!(read(&inner).unwrap().is_none());
        write(&inner, &Pair { certificate: "c".into(), key: "k".into() }).unwrap();
        let Pair { certificate, key } = read(&inner).unwrap().unwrap();
        assert_eq!((&*certificate, &*key), ("c", "k"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |name| fs::metadata(inner.join(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode("apiserver.crt") & 0o600, mode("apiserver.key")), (0o600, 0o600));
        }
        fs::remove_file(inner.join("apiserver.key")).unwrap();
        let message = read(&inner).err().unwrap().to_string();
        let path = inner.join("apiserver.key");
        assert_eq!(
            message,
            format!("error reading {}, certificate and key must be supplied as a pair", path.display())
        );
    }
}
