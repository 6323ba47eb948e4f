//! The lists of modules with definitions and with manifests, and the tables about them.

use crate::fixtures;
use conformance::sources::sets::{self, Set};
use conformance::{crds, manifests, pages};
use conformance_judge::report::section;

const LISTS: [(&str, &str); 2] = [("crds", crds::table::SECTION), ("manifests", manifests::table::SECTION)];

#[test]
fn the_table_has_a_row_for_each_set() {
    let page = std::fs::read_to_string(fixtures("..").join(pages::FIDELITY)).unwrap();
    for (command, name) in LISTS {
        let sets = sets::load(&fixtures(&format!("{command}.toml"))).unwrap();
        let table = section(&page, name).unwrap();
        let rows = table.lines().skip(2).map(|row| row.split('|').nth(1).unwrap_or_default().trim());
        let mut projects: Vec<&str> = sets.iter().map(|set| set.project.as_str()).collect();
        projects.push("**all**");
        assert_eq!(rows.collect::<Vec<_>>(), projects, "run `cargo xtask {command}`");
    }
}

#[test]
fn each_set_is_pinned_once() {
    for (command, _) in LISTS {
        let sets = sets::load(&fixtures(&format!("{command}.toml"))).unwrap();
        for set in &sets {
            let same = |other: &&Set| other.module == set.module && other.files == set.files;
            assert_eq!(sets.iter().filter(same).count(), 1, "{set}");
            assert!(set.version.starts_with('v') && set.sum.starts_with("h1:"), "{set}");
        }
    }
}
