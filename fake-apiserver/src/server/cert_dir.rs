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
    // A file that has no text has no certificate, which is said of it later.
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match paths.each_ref().map(fs::read) {
        [Ok(certificate), Ok(key)] => Ok(Some(Pair { certificate: text(certificate), key: text(key) })),
        [Err(_), Err(_)] => Ok(None),
        [certificate, _] => {
            let [certificate_path, key_path] = paths;
            let path = if certificate.is_err() { certificate_path } else { key_path };
            Err(IdentityError::NoPair { path })
        }
    }
}

/// Writes a pair to that folder, which is made if needed: the key for its owner only. Both are written under other names and renamed then, so that
/// no half of a file or of the pair is left behind.
///
/// # Errors
/// If the folder cannot be written to.
pub(super) fn write(folder: &Path, pair: &Pair) -> Result<(), IdentityError> {
    let failed = |source| IdentityError::Folder { path: folder.into(), source };
    let [certificate, key] = paths(folder);
    fs::create_dir_all(folder).map_err(failed)?;
    let unfinished = [&certificate, &key].map(|path| unfinished(path));
    let [unfinished_certificate, unfinished_key] = &unfinished;
    let written = create(unfinished_certificate, 0o644, &pair.certificate)
        .and_then(|()| create(unfinished_key, 0o600, &pair.key))
        .and_then(|()| fs::rename(unfinished_key, &key))
        .and_then(|()| fs::rename(unfinished_certificate, &certificate).inspect_err(|_| drop(fs::remove_file(&key))));
    written.map_err(|error| {
        unfinished.iter().for_each(|path| drop(fs::remove_file(path)));
        failed(error)
    })
}

/// The path of a file while it is written, which no other process uses.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.unfinished", std::process::id()));
    path.with_file_name(name)
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
