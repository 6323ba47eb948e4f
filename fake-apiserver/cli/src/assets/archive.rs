//! The archive of the programs: regular files only, as `setup-envtest sideload` skips links. The program is in it once; the others are
//! scripts that run it, or copies of it where there is no shell.

use crate::role::AS_ETCD;
use crate::role::AS_KUBECTL;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The length of a block of an archive.
const BLOCK: usize = 512;

/// Writes the archive, compressed.
///
/// # Errors
/// If the program cannot be read, or the archive cannot be written.
pub(super) fn write(program: &Path, out: impl Write) -> io::Result<()> {
    let program = fs::read(program)?;
    let other = |role: &str| match cfg!(unix) {
        true => format!("#!/bin/sh\nexec \"${{0%/*}}/kube-apiserver\" {role} \"$@\"\n").into_bytes(),
        false => program.clone(),
    };
    let mut out = GzEncoder::new(out, Compression::fast());
    for (name, content) in [("kube-apiserver", &program), ("etcd", &other(AS_ETCD)), ("kubectl", &other(AS_KUBECTL))] {
        out.write_all(&header(&format!("{name}{EXE_SUFFIX}"), content.len()))?;
        out.write_all(content)?;
        let rest = content.len() % BLOCK;
        out.write_all(&[0; BLOCK][..if rest == 0 { 0 } else { BLOCK - rest }])?;
    }
    // The end of an archive.
    out.write_all(&[0; 2 * BLOCK])?;
    out.finish()?.flush()
}

/// The header of a regular file that anyone may run, in the form of POSIX (`ustar`).
fn header(name: &str, length: usize) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000755\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{length:011o}\0"));
    put(136, "00000000000\0");
    // The sum counts itself as blanks.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}
