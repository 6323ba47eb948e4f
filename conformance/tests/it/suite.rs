//! All scenarios on the embedded server.

use crate::fixtures;
use conformance::ledger::Ledger;
use conformance::report;
use conformance::scenario::Scenario;
use conformance::suite::{self, Outcome};
use conformance::target::Embedded;

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_server_plays_all_scenarios() {
    let scenarios = Scenario::load_all(&fixtures("scenarios")).unwrap();
    let ledger = Ledger::load(&fixtures("expectations.toml")).unwrap();
    let reports = suite::run(&scenarios, &Embedded, &ledger, |_| {}).await;
    let failed = reports.iter().filter(|report| matches!(report.outcome, Outcome::Failed(_)));
    let failed: Vec<String> = failed.map(|failed| report::progress(failed, 0, 0)).collect();
    assert!(failed.is_empty(), "{}\n{}", failed.join("\n"), report::table(&reports));
}
