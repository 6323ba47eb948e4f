//! A small soak test of the real tokens controller on the target `kcm`.

use conformance::control_plane::cache::{TOKEN_GENERATING_VERSION, VERSION, program};
use conformance::soak::{Options, soak};

/// The full test, with ten thousand writes and both modes of the controller, takes minutes: `cargo xtask conformance soak`.
#[tokio::test(flavor = "multi_thread")]
async fn the_real_controller_comes_through_a_storm() {
    for version in [VERSION, TOKEN_GENERATING_VERSION] {
        if let Err(error) = program(version, "kube-controller-manager") {
            eprintln!("skipped: {error:#}");
            return;
        }
    }
    let outcome = soak(Options { writes: 400, seed: 1, auto_generate: false }).await.unwrap();
    assert!(outcome.findings.is_empty(), "{outcome}");
}
