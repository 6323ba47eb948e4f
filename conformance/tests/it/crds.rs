//! The list of modules with definitions, and the README's table about them.

use crate::fixtures;
use conformance::crds::sets::{self, Set};
use conformance::crds::table;
use conformance_judge::report::section;

#[test]
fn the_readme_has_a_row_for_each_set() {
    let sets = sets::load(&fixtures("crds.toml")).unwrap();
    let readme = std::fs::read_to_string(fixtures("../README.md")).unwrap();
    let table = section(&readme, table::SECTION).unwrap();
    let rows = table.lines().skip(2).map(|row| row.split('|').nth(1).unwrap_or_default().trim());
    let mut projects: Vec<&str> = sets.iter().map(|set| set.project.as_str()).collect();
    projects.push("**all**");
    assert_eq!(rows.collect::<Vec<_>>(), projects, "run `cargo xtask crds`");
}

#[test]
fn each_set_is_pinned_once() {
    let sets = sets::load(&fixtures("crds.toml")).unwrap();
    for set in &sets {
        let same = |other: &&Set| other.module == set.module && other.definitions == set.definitions;
        assert_eq!(sets.iter().filter(same).count(), 1, "{set}");
        assert!(set.version.starts_with('v') && set.sum.starts_with("h1:"), "{set}");
    }
}
