//! Compresses the record of OpenAPI, which the server reads only when it is asked for such a document.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write as _;
use std::path::PathBuf;

/// The record, from the folder of this package.
const RECORD: &str = "src/discovery/openapi/recorded.txt";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed={RECORD}");
    println!("cargo::rerun-if-changed=build.rs");
    let output = PathBuf::from(std::env::var("OUT_DIR")?).join("openapi.zlib");
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(RECORD)?)?;
    std::fs::write(output, encoder.finish()?)?;
    Ok(())
}
