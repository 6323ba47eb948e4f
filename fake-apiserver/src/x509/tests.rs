//! Chains of certificates, with Go's recorded verdicts.

use super::{Pool, Usage};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use serde_json::Value;

/// Certificates in base64.
fn certificates(list: &Value) -> Vec<Vec<u8>> {
    let decode = |one: &Value| STANDARD.decode(one.as_str().expect("text")).expect("base64");
    list.as_array().expect("a list").iter().map(decode).collect()
}

#[test]
fn chains_are_judged_as_go_does() {
    let mut wrong = Vec::new();
    for (number, line) in include_str!("../../../fixtures/x509/verified.jsonl").lines().enumerate() {
        let vector: Value = serde_json::from_str(line).expect("JSON");
        let pool = Pool(certificates(&vector["roots"]).into_iter().map(CertificateDer::from).collect());
        let usage = if vector["client"] == true { Usage::Client } else { Usage::Server };
        let now: Timestamp = vector["now"].as_str().expect("text").parse().expect("a time");
        let chain = certificates(&vector["chain"]);
        let found = pool.verify(chain.iter().map(Vec::as_slice), vector["host"].as_str(), usage, now);
        let found = found.err().unwrap_or_default();
        let expected = vector["error"].as_str().unwrap_or_default();
        if found != expected {
            wrong.push(format!("line {}:\n  {expected}\n  {found}", number + 1));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
