//! A small storm for the real tokens controller, and the target that it plays on.

use conformance::control_plane::cache::{TOKEN_GENERATING_VERSION, VERSION, program};
use conformance::soak::{Options, soak};

/// Ten thousand writes, and the mode in which the controller may remember wrongly for a minute, take minutes: `cargo xtask
/// conformance soak` has both.
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
