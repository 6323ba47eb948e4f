//! A small soak of admission; the full one takes five minutes: `cargo xtask conformance admission`.

use conformance::admission::{Kind, Options, run};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_admitted_is_what_should_be() {
    let options = Options { target: Kind::Embedded, seconds: 6, clients: 20, seed: 1 };
    let outcome = run(options).await.unwrap();
    assert!(outcome.findings.is_empty(), "{outcome}");
}
