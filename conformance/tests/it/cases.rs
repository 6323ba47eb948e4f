//! The cases in `fixtures/kinds/` on the embedded server.

use crate::fixtures;
use conformance::cases;
use conformance::subject::Embedded;

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_answers_as_that_of_the_real_server() {
    let differences = cases::differences(&Embedded, &fixtures(".."), "").await.unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
