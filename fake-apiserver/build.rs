//! Compresses the records of OpenAPI, which the server reads only when it is asked for such a document.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write as _;
use std::path::PathBuf;

/// The records, from the folder of this package, and the names that they have when they are compressed.
const RECORDS: [(&str, &str); 2] = [
    ("src/discovery/openapi/recorded.txt", "openapi.zlib"),
    ("src/discovery/openapi/recorded_optional.txt", "openapi_optional.zlib"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    for (record, name) in RECORDS {
        println!("cargo::rerun-if-changed={record}");
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&std::fs::read(record)?)?;
        std::fs::write(folder.join(name), encoder.finish()?)?;
    }
    Ok(())
}
