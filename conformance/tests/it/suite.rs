//! All scenarios on the embedded server.

use crate::fixtures;
use conformance::report;
use conformance::scenario::Scenario;
use conformance::score::{self, Score};
use conformance::suite::{self, Truth};
use conformance::target::Embedded;

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_server_plays_all_scenarios_and_scores_what_the_readme_says() {
    let scenarios = Scenario::load_all(&fixtures("scenarios")).unwrap();
    let truth = Truth::load(&fixtures(""), &scenarios).unwrap();
    let reports = suite::run(&scenarios, &Embedded, &truth, |_| {}).await;
    let failed = reports.iter().filter(|report| report.failed());
    let failed: Vec<String> = failed.map(|failed| report::progress(failed, 0, 0)).collect();
    assert!(failed.is_empty(), "{}\n{}", failed.join("\n"), report::table(&reports));

    let read = |path: &str| std::fs::read_to_string(fixtures(path)).unwrap();
    let (file, readme) = (read("score.md"), read("../README.md"));
    assert_eq!(score::included(&readme), Some(file.as_str()), "README.md does not show fixtures/score.md");
    let (claimed, actual) = (Score::parse(&file).unwrap(), Score::of(&truth, &[("embedded", &reports)]));
    let column = |score: &Score| format!("{:#?}", score.column("embedded"));
    assert_eq!(column(&claimed), column(&actual), "run `cargo xtask conformance --target all`");
}
