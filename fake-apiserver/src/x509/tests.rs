//! Chains of certificates, certificates and requests, with Go's recorded verdicts.

use super::{Certificate, CertificateRequest, Name, ORGANIZATION, Pool, Usage};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};

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

/// The form in which verdicts are recorded: an error, or the parts of a subject.
fn shown(subject: Result<&Name<'_>, &String>) -> String {
    match subject {
        Ok(subject) => {
            let organizations: Vec<&str> = subject.all(ORGANIZATION).collect();
            json!([subject.common_name(), organizations]).to_string()
        }
        Err(why) => why.clone(),
    }
}

#[test]
fn certificates_and_requests_are_read_as_go_does() {
    let mut wrong = Vec::new();
    for (number, line) in include_str!("../../../fixtures/x509/parsed.jsonl").lines().enumerate() {
        let vector: Value = serde_json::from_str(line).expect("JSON");
        let der = |field: &str| vector[field].as_str().map(|text| STANDARD.decode(text).expect("base64"));
        let text = |field: &str| vector[field].as_str().unwrap_or_default().to_owned();
        let (found, signature) = match (der("request"), der("certificate")) {
            (Some(request), None) => {
                let request = CertificateRequest::parse(&request);
                let signature = request.as_ref().ok().and_then(|request| request.check_signature().err());
                (shown(request.as_ref().map(|request| &request.subject)), signature)
            }
            (None, Some(certificate)) => {
                let certificate = Certificate::parse(&certificate);
                (shown(certificate.as_ref().map(|certificate| &certificate.subject)), None)
            }
            _ => panic!("line {}: either a request or a certificate", number + 1),
        };
        let organizations = vector["organizations"].as_array().cloned().unwrap_or_default();
        let expected = match text("error") {
            error if error.is_empty() => json!([text("commonName"), organizations]).to_string(),
            error => error,
        };
        let found = format!("{found} {}", signature.unwrap_or_default());
        let expected = format!("{expected} {}", text("signature"));
        if found != expected {
            wrong.push(format!("line {}:\n  {expected}\n  {found}", number + 1));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
