//! All scenarios on the embedded server.

use crate::fixtures;
use conformance::play::Options;
use conformance::subject::Embedded;
use conformance::suite;
use conformance_judge::baseline::Baseline;
use conformance_judge::dialogue::Played;
use conformance_judge::report;
use conformance_judge::scenario::Scenario;
use conformance_judge::score::Score;

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_server_plays_all_scenarios_and_scores_what_the_readme_says() {
    let scenarios = Scenario::load_all(&fixtures("scenarios")).unwrap();
    let baseline = Baseline::load(&fixtures(""), &scenarios).unwrap();
    let reports = suite::run(&scenarios, &Embedded, &baseline, Options::default(), |_| {}).await;
    let failed = reports.iter().filter(|report| report.failed());
    let failed: Vec<String> = failed.map(|failed| report::progress(failed, 0, 0)).collect();
    assert!(failed.is_empty(), "{}\n{}", failed.join("\n"), report::table(&reports));

    for (scenario, report) in scenarios.iter().zip(&reports) {
        let played = report.played.as_ref().expect("the embedded server has all powers");
        let Played { dialogue, .. } = Played::replay(scenario, played.history.clone());
        for step in &scenario.steps {
            let (saved, live) = (dialogue.observed(step.line), played.dialogue.observed(step.line));
            assert_eq!(saved, live, "{} line {}: a saved history is read differently", scenario.name, step.line);
        }
    }

    let read = |path: &str| std::fs::read_to_string(fixtures(path)).unwrap();
    let claim = |page: &str| report::section(&read(page), "score").and_then(Score::parse).expect("it shows the score");
    let (claimed, actual) = (claim("../docs/score.md"), Score::of(&baseline, &[("embedded", &reports)]));
    assert_eq!(
        claim("../docs/fidelity.md"),
        claimed.summary(),
        "docs/fidelity.md does not show the total of docs/score.md"
    );
    let column = |score: &Score| format!("{:#?}", score.column("embedded"));
    assert_eq!(column(&claimed), column(&actual), "run `cargo xtask conformance --target all`");
}
