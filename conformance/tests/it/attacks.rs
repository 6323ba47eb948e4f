//! The short attacks on the embedded server.

use crate::fixtures;
use conformance::attack::record::Record;
use conformance::attack::{catalogue, score, suite};
use conformance::pages;
use conformance::subject::Embedded;
use conformance_judge::report::section;

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_server_endures_all_short_attacks() {
    let folder = fixtures("attacks");
    let mut entries = catalogue::load(&folder).unwrap();
    let page = std::fs::read_to_string(fixtures("..").join(pages::ATTACKS)).unwrap();
    let record = Record::load(&folder, &catalogue::judged(&entries)).unwrap();
    let table = score::table(&entries, &record);
    assert_eq!(section(&page, "attacks"), Some(table.as_str()), "run `cargo xtask attack --target process`");
    entries.retain(|entry| !entry.slow && entry.class != "programs");
    let reports = suite::run(&entries, &Embedded, &record, true, |_| {}).await.unwrap();
    let failed: Vec<String> = reports
        .iter()
        .filter(|report| report.failed())
        .map(|report| format!("{}: {:?} {:?}", report.name, report.verdict, report.harm))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
