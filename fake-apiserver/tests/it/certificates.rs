//! Client certificates over real TLS. The expectations are the answers of a kube-apiserver v1.37.1 with `--client-ca-file`
//! to certificates of the same kinds, except where clocks are moved.

use crate::support::*;
use fake_apiserver::{Builder, FakeApiServer, ManualClock};
use jiff::SignedDuration;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};

const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const UID: DnType = DnType::CustomDnType(Vec::new());

pub(crate) type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

pub(crate) fn authority(name: &str) -> Authority {
    authority_with(name, |_| {})
}

fn authority_with(name: &str, adapt: impl FnOnce(&mut CertificateParams)) -> Authority {
    let mut params = authority_params(name);
    adapt(&mut params);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A client's certificate with that subject; an empty custom type stands for that of uids.
pub(crate) fn issue(
    authority: &Authority,
    subject: &[(DnType, &str)],
    adapt: impl FnOnce(&mut CertificateParams),
) -> Certificate {
    let mut params = CertificateParams::default();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.distinguished_name = rcgen::DistinguishedName::new();
    for (kind, value) in subject {
        let uid = DnType::CustomDnType(vec![1, 3, 6, 1, 4, 1, 57683, 2]);
        params.distinguished_name.push(if *kind == UID { uid } else { kind.clone() }, *value);
    }
    adapt(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    (vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
}

pub(crate) fn again((chain, key): &Certificate) -> Certificate {
    (chain.clone(), key.clone_key())
}

fn trusting(authority: &Authority) -> Builder {
    FakeApiServer::builder().record_requests(true).client_ca_pem(&authority.pem())
}

/// The user info of a request with a certificate and a token, or its status code.
async fn who(server: &FakeApiServer, certificate: &Certificate, token: &str) -> Result<Value, u16> {
    let mut client = Client::connect(server, 0, Protocol::Http2, Some(again(certificate))).await;
    client.token = token.into();
    ask(&mut client).await
}

async fn ask(client: &mut Client) -> Result<Value, u16> {
    let answer = client.post(SELF, &json!({})).await;
    if answer.code == 201 { Ok(answer.json()["status"]["userInfo"].clone()) } else { Err(answer.code) }
}

/// The reason why the last request was not authenticated.
pub(crate) fn complaint(server: &FakeApiServer) -> String {
    server.requests().last().and_then(|request| request.authentication_error.clone()).unwrap_or_default()
}

#[tokio::test]
async fn the_subject_is_the_user() {
    let authority = authority("clients");
    let server = trusting(&authority).start().await.unwrap();
    let (name, group) = (DnType::CommonName, DnType::OrganizationName);
    let subject = [(group.clone(), "devs"), (name.clone(), "alice"), (UID, "4711")];
    let certificate = issue(&authority, &subject, |_| {});
    let fingerprint: String = {
        let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &certificate.0[0]);
        digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let expected = json!({
        "username": "alice", "uid": "4711", "groups": ["devs", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": [format!("X509SHA256={fingerprint}")]},
    });
    assert_eq!(who(&server, &certificate, "").await, Ok(expected.clone()));
    // A certificate takes precedence over a token, even over a bad one.
    assert_eq!(who(&server, &certificate, server.admin_token()).await, Ok(expected.clone()));
    assert_eq!(who(&server, &certificate, "nonsense").await, Ok(expected));

    // The organization system:masters makes the user a member.
    let masters = issue(&authority, &[(name.clone(), "system:anonymous"), (group.clone(), "system:masters")], |_| {});
    assert_eq!(who(&server, &masters, "").await.unwrap()["groups"], json!(["system:masters"]));
    // Without a common name the client is anonymous.
    let nameless = issue(&authority, &[(group, "devs")], |_| {});
    assert_eq!(who(&server, &nameless, "").await, Err(403));
    assert_eq!(who(&server, &nameless, server.admin_token()).await.unwrap()["username"], "admin");

    let blank = issue(&authority, &[(name, "alice"), (UID, "")], |_| {});
    assert_eq!(who(&server, &blank, "").await, Err(401));
    assert_eq!(complaint(&server), "UID cannot be an empty string");
}

/// A short serial number is shown in decimal, which would take minutes for this one.
#[tokio::test]
async fn a_long_serial_number_does_not_take_long() {
    let (authority, other) = (authority("clients"), authority("others"));
    let server = trusting(&authority).start().await.unwrap();
    let serial = |params: &mut CertificateParams| params.serial_number = Some(vec![0x7f; 60_000].into());
    let certificate = issue(&other, &[(DnType::CommonName, "alice")], serial);
    assert_eq!(who(&server, &certificate, "").await, Err(401));
    assert!(complaint(&server).starts_with("verifying certificate SN=0x7F7F7F"), "{}", complaint(&server));
}

#[tokio::test]
async fn a_bad_certificate_is_not_none() {
    let (authority, other) = (authority("clients"), authority("others"));
    let server = trusting(&authority).start().await.unwrap();
    let subject = [(DnType::CommonName, "alice")];
    let prefix = "verifying certificate SN=";
    for (certificate, why) in [
        (issue(&other, &subject, |_| {}), "signed by unknown authority"),
        (
            issue(&authority, &subject, |params| {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            }),
            "specifies an incompatible key usage",
        ),
    ] {
        assert_eq!(who(&server, &certificate, "").await, Err(401), "{why}");
        let alone = complaint(&server);
        assert!(alone.starts_with(prefix) && alone.ends_with(&format!(" failed: x509: certificate {why}")), "{alone}");
        assert_eq!(who(&server, &certificate, "nonsense").await, Err(401), "{why}");
        assert_eq!(complaint(&server), format!("[invalid bearer token, {alone}]"));
        // With a valid token besides, the request is authenticated.
        assert_eq!(who(&server, &certificate, server.admin_token()).await.unwrap()["username"], "admin");
    }
    let serial =
        issue(&other, &subject, |params| params.serial_number = Some(vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 5].into()));
    assert_eq!(who(&server, &serial, "").await, Err(401));
    // 2^72 + 5.
    assert!(
        complaint(&server).starts_with("verifying certificate SN=4722366482869645213701, SKID="),
        "{}",
        complaint(&server)
    );
}

#[tokio::test]
async fn each_replica_judges_by_its_own_clock() {
    let authority = authority("clients");
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = trusting(&authority).clock(clock.clone()).replicas(2).clock_offset(1, -3600);
    let server = builder.start().await.unwrap();
    let certificate = issue(&authority, &[(DnType::CommonName, "alice")], |params| {
        params.not_before = date_time_ymd(2030, 1, 1);
        params.not_after = date_time_ymd(2030, 1, 2);
    });
    let mut clients = Vec::new();
    for index in 0..2 {
        let mut client = Client::connect(&server, index, Protocol::Http1, Some(again(&certificate))).await;
        client.token = String::new();
        clients.push(client);
    }
    let [present, behind] = &mut clients[..] else { panic!("two clients") };
    // The connections stay open; each request is authenticated anew.
    assert_eq!((ask(present).await.is_ok(), ask(behind).await), (true, Err(401)));
    let why = "x509: certificate has expired or is not yet valid: current time";
    let early = format!("{why} 2029-12-31T23:00:00Z is before 2030-01-01T00:00:00Z");
    assert!(complaint(&server).ends_with(&early), "{}", complaint(&server));
    clock.advance(SignedDuration::from_hours(2));
    assert_eq!((ask(present).await.is_ok(), ask(behind).await.is_ok()), (true, true));
    clock.advance(SignedDuration::from_hours(22));
    assert_eq!((ask(present).await.is_ok(), ask(behind).await.is_ok()), (true, true));
    clock.advance(SignedDuration::from_secs(1));
    assert_eq!((ask(behind).await.is_ok(), ask(present).await), (true, Err(401)));
    let late = format!("{why} 2030-01-02T00:00:01Z is after 2030-01-02T00:00:00Z");
    assert!(complaint(&server).ends_with(&late), "{}", complaint(&server));
}

#[tokio::test]
async fn an_authority_must_be_one_and_in_time() {
    let subject = [(DnType::CommonName, "alice")];
    let other = authority("others");
    let unsigned = |name: &str| {
        format!(
            "signed by unknown authority (possibly because of \"x509: invalid signature: parent certificate cannot sign this kind of \
             certificate\" while trying to verify candidate authority certificate {name:?})"
        )
    };
    let expired = |why: &str| format!("has expired or is not yet valid: current time {why}");
    for (authority, day, why) in [
        (authority("clients"), "2030-01-01", String::new()),
        (authority_with("client", |params| params.is_ca = IsCa::ExplicitNoCa), "2030-01-01", unsigned("client")),
        (authority_with("client", |params| params.is_ca = IsCa::NoCa), "2030-01-01", unsigned("client")),
        (
            authority_with("signs no keys", |params| params.key_usages = vec![KeyUsagePurpose::CrlSign]),
            "2030-01-01",
            unsigned("signs no keys"),
        ),
        (authority_with("signs all", |params| params.key_usages = vec![]), "2030-01-01", String::new()),
        (
            authority_with("late", |params| params.not_before = date_time_ymd(2031, 1, 1)),
            "2030-12-31",
            expired("2030-12-31T00:00:00Z is before 2031-01-01T00:00:00Z"),
        ),
        (
            authority_with("in time", |params| params.not_before = date_time_ymd(2031, 1, 1)),
            "2031-01-01",
            String::new(),
        ),
        (
            authority_with("old", |params| params.not_after = date_time_ymd(2060, 1, 1)),
            "2060-01-02",
            expired("2060-01-02T00:00:00Z is after 2060-01-01T00:00:00Z"),
        ),
        (authority_with("young", |params| params.not_after = date_time_ymd(2060, 1, 1)), "2059-12-31", String::new()),
    ] {
        let clock = ManualClock::new(format!("{day}T00:00:00Z").parse().unwrap());
        let builder = FakeApiServer::builder().record_requests(true).clock(clock);
        let pem = format!("{}{}", other.pem(), authority.pem());
        let server = builder.client_ca_pem(&pem).start().await.unwrap();
        let found = who(&server, &issue(&authority, &subject, |_| {}), "").await;
        assert_eq!(found.is_ok(), why.is_empty(), "{} {day}: {}", authority.pem(), complaint(&server));
        if !why.is_empty() {
            assert!(
                complaint(&server).ends_with(&format!(" failed: x509: certificate {why}")),
                "{}",
                complaint(&server)
            );
        }
    }
}

#[tokio::test]
async fn intermediate_authorities_come_along() {
    let root = authority("clients");
    let middle = CertifiedIssuer::signed_by(authority_params("staff"), KeyPair::generate().unwrap(), &root).unwrap();
    let server = trusting(&root).start().await.unwrap();
    let (leaf, key) = issue(&middle, &[(DnType::CommonName, "alice")], |_| {});
    let chain: Vec<CertificateDer<'static>> = vec![leaf[0].clone(), middle.der().clone()];
    assert_eq!(who(&server, &(leaf, key.clone_key()), "").await, Err(401));
    assert_eq!(who(&server, &(chain, key), "").await.unwrap()["username"], "alice");
}

#[tokio::test]
async fn without_authorities_nobody_asks() {
    let authority = authority("clients");
    let server = FakeApiServer::builder().start().await.unwrap();
    let certificate = issue(&authority, &[(DnType::CommonName, "alice")], |_| {});
    assert_eq!(who(&server, &certificate, "").await, Err(403));
    let error = FakeApiServer::builder().client_ca_pem("nothing").start().await.err().unwrap();
    assert_eq!(error.to_string(), "data does not contain any valid RSA or ECDSA certificates");
}
