//! What README says of the tables.

use crate::fixtures;
use conformance::pages::measured;
use conformance_judge::report::section;

#[test]
fn the_readme_says_what_the_tables_say() {
    let readme = std::fs::read_to_string(fixtures("../README.md")).unwrap();
    let expected = measured::text(&fixtures("..")).unwrap();
    assert_eq!(section(&readme, measured::SECTION), Some(expected.as_str()), "the commands that write tables write it");
}
