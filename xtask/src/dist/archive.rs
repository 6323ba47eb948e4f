//! Archives that depend on nothing but their files.

use anyhow::Result;
use flate2::{Compression, GzBuilder};

/// A `.tar.gz` of files: paths, modes and contents.
pub(super) fn tar_gz(files: &[(String, u32, Vec<u8>)]) -> Result<Vec<u8>> {
    // Without a time and a name in its head.
    let mut archive = tar::Builder::new(GzBuilder::new().write(Vec::new(), Compression::best()));
    for (path, mode, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(*mode);
        header.set_mtime(0);
        archive.append_data(&mut header, path, content.as_slice())?;
    }
    Ok(archive.into_inner()?.finish()?)
}
