//! Documents against those of the real server, by hash (`fixtures/openapi.txt` and `openapi_optional.txt`, written by
//! `cargo xtask conformance openapi`).

use super::built_in;
use super::document::Document;
use super::protobuf;
use super::recorded::{Path, Recorded};
use super::template::Form;
use crate::deadline::Deadline;
use crate::discovery::aggregated::sha512_hex;

/// The documents of the record whole, whatever is served here.
#[test]
fn the_record_is_what_the_real_server_publishes() {
    check(include_str!("../../../../fixtures/openapi.txt"), 41, || Recorded::get().paths.iter());
}

/// Those of a server that is asked for optional versions.
#[test]
fn the_record_of_optional_versions_is_what_the_real_server_publishes() {
    let paths = || Recorded::get().paths.iter().chain(&Recorded::optional().paths);
    check(include_str!("../../../../fixtures/openapi_optional.txt"), 3, paths);
}

/// Compares the documents of paths with hashes, of which there are at least so many.
fn check<P: Iterator<Item = &'static Path>>(hashes: &str, least: usize, paths: impl Fn() -> P) {
    let (mut count, mut differences) = (0, Vec::new());
    for line in hashes.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(' ').collect();
        let path = columns[0].strip_prefix("/openapi/").expect("a path of OpenAPI");
        let (json, protobuf) = match path.strip_prefix("v3/") {
            Some(path) => {
                let json = v3(path, paths());
                let protobuf = protobuf::v3(json.as_bytes(), &Deadline::default());
                (json, protobuf)
            }
            None => {
                let json = v2(paths());
                let protobuf = protobuf::v2(json.as_bytes(), &Deadline::default());
                (json, protobuf)
            }
        };
        count += 1;
        let protobuf = protobuf.expect("the messages have a place for everything");
        if [sha512_hex(json.as_bytes()), sha512_hex(&protobuf)] != columns[1..] {
            differences.push(path);
        }
    }
    assert!(count >= least, "{count}");
    assert_eq!(differences, [""; 0]);
}

fn v3(path: &str, paths: impl Iterator<Item = &'static Path>) -> String {
    let mut document = Document::default();
    let (group, version) = match path.split('/').collect::<Vec<_>>()[..] {
        ["apis", group, version] => (group, version),
        _ => ("", ""),
    };
    built_in::add(&mut document, Form::V3, (group, version), paths.filter(|recorded| recorded.document() == path));
    document.v3()
}

fn v2(paths: impl Iterator<Item = &'static Path>) -> String {
    let mut document = Document::default();
    built_in::add(&mut document, Form::V2, ("", ""), paths);
    document.v2()
}
