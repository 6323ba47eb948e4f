//! Front proxies over real TLS. The expectations are the answers of a kube-apiserver v1.37.1 with the same flags to certificates and headers of
//! the same kinds.

use crate::certificates::{again, authority, complaint, issue};
use crate::support::*;
use fake_apiserver::{AuthenticationOptions, FakeApiServer, StartError};
use rcgen::DnType;
use serde_json::{Value, json};

const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const PUBLISHED: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/// The options of proxies whose authorities are in that file.
fn options(path: &std::path::Path, allowed: &[&str]) -> AuthenticationOptions {
    let mut options = AuthenticationOptions::default();
    let texts = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    options.front_proxy.client_ca_file = Some(path.to_owned());
    options.front_proxy.allowed_names = texts(allowed);
    options.front_proxy.username_headers = texts(&["X-Remote-User", "X-User"]);
    options.front_proxy.uid_headers = texts(&["X-Remote-Uid"]);
    options.front_proxy.group_headers = texts(&["X-Remote-Group", "X-Groups"]);
    options.front_proxy.extra_headers_prefix = texts(&["X-Remote-Extra-", "X-More-"]);
    options
}

/// The user info of a request with headers, a certificate and a token, or the status code.
async fn who(
    server: &FakeApiServer,
    certificate: Option<&Certificate>,
    token: &str,
    headers: &[(&str, &str)],
) -> Result<Value, u16> {
    let mut client = Client::connect(server, 0, Protocol::Http2, certificate.map(again)).await;
    client.token = token.into();
    let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}).to_string();
    let headers: Vec<(&str, &str)> = [JSON].into_iter().chain(headers.iter().copied()).collect();
    let answer = client.ask("POST", SELF, &headers, body).await;
    if answer.code == 201 { Ok(answer.json()["status"]["userInfo"].clone()) } else { Err(answer.code) }
}

#[tokio::test]
async fn a_proxy_says_who_makes_a_request() {
    let (proxies, clients) = (authority("proxies"), authority("clients"));
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), proxies.pem()).expect("a file");
    let builder = FakeApiServer::builder().record_requests(true).client_ca_pem(&clients.pem());
    let builder = builder.add_static_token("tok", "admin", &["system:masters"]);
    let server = builder.authentication(options(file.path(), &["front"])).start().await.expect("a server");
    let front = issue(&proxies, &[(DnType::OrganizationName, "x"), (DnType::CommonName, "front")], |_| {});
    let other = issue(&proxies, &[(DnType::CommonName, "other")], |_| {});
    let alice = issue(&clients, &[(DnType::OrganizationName, "devs"), (DnType::CommonName, "alice")], |_| {});
    let bob = ("x-remote-user", "bob");
    let all = [
        bob,
        ("x-remote-group", "a"),
        ("x-remote-group", "b"),
        ("x-groups", "c"),
        ("x-remote-extra-scopes%2fx", "1"),
        ("x-remote-extra-bad%zz", "2"),
        ("x-more-scopes%2fx", "3"),
        ("x-remote-uid", "7"),
    ];
    let expected = json!({
        "username": "bob", "uid": "7", "groups": ["a", "b", "c", "system:authenticated"],
        "extra": {"bad%zz": ["2"], "scopes/x": ["1", "3"]},
    });
    assert_eq!(who(&server, Some(&front), "", &all).await, Ok(expected));
    let carol = [("x-remote-user", ""), ("x-user", "carol"), ("x-remote-group", "")];
    let expected = json!({"username": "carol", "groups": ["system:authenticated"]});
    assert_eq!(who(&server, Some(&front), "", &carol).await, Ok(expected));

    // Without such a header the certificate is one of a client, which it is not.
    assert_eq!(who(&server, Some(&front), "", &[]).await, Err(401));
    let why = complaint(&server);
    assert!(why.starts_with("verifying certificate SN=") && why.ends_with("unknown authority"), "{why}");
    assert_eq!(who(&server, Some(&other), "", &[bob]).await, Err(401));
    let why = complaint(&server);
    let not_allowed = "x509: subject with cn=other is not in the allowed list, verifying certificate SN=";
    assert!(why.starts_with(&format!("[{not_allowed}")), "{why}");
    assert_eq!(who(&server, Some(&other), "nope", &[]).await, Err(401));
    let why = complaint(&server);
    assert!(why.starts_with(&format!("[invalid bearer token, {not_allowed}")), "{why}");

    let name = |info: Result<Value, u16>| info.map(|info| text(&info, "/username").to_owned());
    for (certificate, token, expected) in [
        (Some(&alice), "", "alice"),
        (Some(&front), "tok", "bob"),
        (Some(&other), "tok", "admin"),
        (None, "tok", "admin"),
    ] {
        assert_eq!(name(who(&server, certificate, token, &[bob]).await), Ok(expected.to_owned()));
    }
    assert_eq!(name(who(&server, Some(&front), "tok", &[]).await), Ok("admin".to_owned()));
    // It is in no group.
    let nobody = who(&server, Some(&front), "", &[("x-remote-user", "system:anonymous")]).await;
    assert_eq!(nobody, Err(403));

    let published = Client::new(&server).await.get(PUBLISHED).await.expect(200);
    let mut data = published["data"].clone();
    for (field, pem) in [("client-ca-file", clients.pem()), ("requestheader-client-ca-file", proxies.pem())] {
        assert_eq!(
            data[field].take().as_str().map(|pem| pem.replace('\n', "")),
            Some(pem.replace("\r\n", "").replace('\n', ""))
        );
    }
    let expected = json!({
        "client-ca-file": null, "requestheader-client-ca-file": null,
        "requestheader-allowed-names": "[\"front\"]",
        "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\",\"X-More-\"]",
        "requestheader-group-headers": "[\"X-Remote-Group\",\"X-Groups\"]",
        "requestheader-uid-headers": "[\"X-Remote-Uid\"]",
        "requestheader-username-headers": "[\"X-Remote-User\",\"X-User\"]",
    });
    assert_eq!(data, expected);
}

#[tokio::test]
async fn without_names_any_certificate_of_the_authorities_is_a_proxys() {
    let proxies = authority("proxies");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), proxies.pem()).expect("a file");
    let server = FakeApiServer::builder().authentication(options(file.path(), &[])).start().await.expect("a server");
    let any = issue(&proxies, &[], |_| {});
    let info = who(&server, Some(&any), "", &[("x-remote-user", "bob")]).await.expect("a user");
    assert_eq!(info["username"], "bob");
    let pem = proxies.pem();
    let both = FakeApiServer::builder().client_ca_pem(&pem).authentication(options(file.path(), &[])).start().await;
    assert!(matches!(both, Err(StartError::AuthenticationFile(why)) if why.contains("overlapping certificates")));
}
