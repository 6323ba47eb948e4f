//! The licences of all packages in the lock file are on the list in `deny.toml`, also of those that only other systems need: cargo
//! fetches what it lacks. Without the network the packages of this system are looked at. Advisories need a database that is
//! fetched: `cargo deny check advisories` checks those.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let policy = std::fs::read_to_string(format!("{root}/deny.toml")).expect("the policy is part of the repository");
    let policy: toml::Table = policy.parse().expect("TOML");
    let allowed: BTreeSet<&str> = policy["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|licence| licence.as_str().expect("a licence"))
        .collect();
    let metadata = metadata(root, &[]).unwrap_or_else(|why| {
        eprintln!("only packages for this system are looked at, as others could not be fetched: {why}");
        metadata(root, &["--offline", "--filter-platform", &host()])
            .expect("the packages of this system were fetched to build them")
    });
    let packages = metadata["packages"].as_array().expect("a list");
    assert!(packages.len() > 100);
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        let permitted = is_permitted(licence, &|licence| allowed.contains(licence));
        assert!(permitted, "{} {} has the licence {licence:?}", package["name"], package["version"]);
    }
}

/// The output of `cargo metadata` for the lock file, with further `arguments`.
fn metadata(root: &str, arguments: &[&str]) -> Result<Value, String> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--all-features", "--locked"])
        .args(arguments)
        .current_dir(root)
        .output()
        .expect("cargo runs");
    match metadata.status.success() {
        true => Ok(serde_json::from_slice(&metadata.stdout).expect("JSON")),
        false => Err(String::from_utf8_lossy(&metadata.stderr).into_owned()),
    }
}

/// The target triple of this system.
fn host() -> String {
    let version = Command::new(env!("CARGO")).arg("-vV").output().expect("cargo runs").stdout;
    let version = String::from_utf8(version).expect("text");
    version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names it").to_owned()
}

/// Whether an SPDX expression can be satisfied with licences that are `allowed`. `/` is an old way to write OR.
fn is_permitted(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let expression = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = expression.split_whitespace().peekable();
    let permitted = any(&mut words, allowed);
    assert_eq!(words.next(), None, "the expression ends: {expression}");
    permitted
}

type Words<'e> = std::iter::Peekable<std::str::SplitWhitespace<'e>>;

fn any(words: &mut Words<'_>, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut permitted = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        permitted |= all(words, allowed);
    }
    permitted
}

fn all(words: &mut Words<'_>, allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut permitted = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        permitted &= one(words, allowed);
    }
    permitted
}

fn one(words: &mut Words<'_>, allowed: &dyn Fn(&str) -> bool) -> bool {
    let Some(word) = words.next() else { return false };
    if word == "(" {
        let permitted = any(words, allowed);
        return words.next() == Some(")") && permitted;
    }
    let licence = match words.next_if_eq(&"WITH").and_then(|_| words.next()) {
        Some(exception) => format!("{word} WITH {exception}"),
        // `+` means this version or a later one.
        None => word.trim_end_matches('+').to_owned(),
    };
    allowed(&licence)
}

#[test]
fn expressions() {
    let allowed = |licence: &str| ["MIT", "ISC", "MPL-2.0", "A WITH B"].contains(&licence);
    for (expression, permitted) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("GPL-3.0 AND MIT OR ISC", true),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("(GPL-3.0 OR MIT) AND (GPL-3.0)", false),
        ("A WITH B", true),
        ("A", false),
        ("MPL-2.0+", true),
    ] {
        assert_eq!(is_permitted(expression, &allowed), permitted, "{expression}");
    }
}
