//! The real control plane, where it has been built.

use crate::fixtures;
use conformance::control_plane::cache;
use conformance::play::Options;
use conformance::subject::Real;
use conformance::suite;
use conformance_judge::baseline::Baseline;
use conformance_judge::report;
use conformance_judge::scenario::Scenario;
use conformance_judge::verdict::Outcome;

#[tokio::test(flavor = "multi_thread")]
async fn a_real_control_plane_plays_scenarios() {
    for name in ["etcd", "kube-apiserver", "kube-controller-manager"] {
        if let Err(missing) = cache::program(cache::VERSION, name) {
            println!("skipped: {missing}");
            return;
        }
    }
    let mut scenarios = Scenario::load_all(&fixtures("scenarios")).unwrap();
    // A plain one, one with a token signed here, one that reads the audit log, one that compacts etcd.
    let chosen = ["create/twice", "skew/signed-claims", "tokens/delete-token-gets-recreated", "watch/compacted"];
    scenarios.retain(|scenario| chosen.contains(&scenario.name.as_str()));
    assert_eq!(scenarios.len(), chosen.len());
    let baseline = Baseline::load(&fixtures(""), &scenarios).unwrap();
    let real = Real::start(false).await.unwrap();
    let reports = suite::run(&scenarios, &real, &baseline, Options::default(), |_| {}).await;
    let others = reports.iter().filter(|report| report.outcome != Outcome::Passed);
    let others: Vec<String> = others.map(|report| report::progress(report, 0, 0)).collect();
    assert!(others.is_empty(), "{}", others.join("\n"));
}
