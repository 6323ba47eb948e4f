//! `/flagz` and `/statusz` where no recording can say what comes: the text, in which a separator is chosen by chance, and the flags of a library.

use crate::support::{Client, start_with};
use bytes::Bytes;
use fake_apiserver::{AuthorizationMode, Builder, FakeApiServer, ManualClock};
use serde_json::json;
use std::collections::BTreeSet;

const SEPARATORS: [&str; 4] = [":", ": ", "=", " "];
const FLAGZ: (&str, &str) = ("accept", "application/json;v=v1beta1;g=config.k8s.io;as=Flagz");

fn builder() -> Builder {
    let clock = ManualClock::new("2026-11-21T04:24:34.9Z".parse().expect("a time"));
    FakeApiServer::builder().clock(clock)
}

/// The texts of a page, asked for some times.
async fn texts(builder: Builder, path: &str) -> Vec<String> {
    let server = start_with(builder).await;
    let mut client = Client::new(&server).await;
    let mut texts = Vec::new();
    for accept in ["", " ", "text/plain", "*/*", "text/*", "image/png, text/plain;q=0.1", "text/plain", "text/plain"] {
        let answer = client.ask("GET", path, &[("accept", accept)], Bytes::new()).await;
        assert_eq!((answer.code, answer.header("content-type")), (200, "text/plain; charset=utf-8"), "{accept:?}");
        texts.push(answer.text().to_owned());
    }
    texts
}

#[tokio::test]
async fn the_text_of_a_status_has_a_separator_by_chance() {
    let expected = |separator: &str| {
        let separator = format!("{separator} ");
        "\napiserver statusz\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for \
         debugging purposes only.\n\nStarted| Sat Nov 21 04:24:34 UTC 2026\nUp| 0 hr 00 min 00 sec\nGo version| \nBinary version| 1.37.1\n\
         Emulation version| 1.37\nPaths| /flagz /healthz /livez /metrics /readyz /statusz /version\n"
            .replace("| ", &separator)
    };
    let all: BTreeSet<String> = SEPARATORS.iter().map(|separator| expected(separator)).collect();
    let texts_of = |seed| texts(builder().seed(seed), "/statusz");
    let texts = texts_of(1).await;
    for text in &texts {
        assert!(all.contains(text), "{text}");
    }
    assert!(texts.iter().collect::<BTreeSet<_>>().len() > 1, "{texts:?}");
    assert_eq!(texts_of(1).await, texts, "the seed decides");
}

#[tokio::test]
async fn the_text_of_flags_has_one_separator_for_ever() {
    let flags = || builder().flags([("b", "1"), ("a", "x y")]);
    let texts = texts(flags().seed(1), "/flagz").await;
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), 1, "{texts:?}");
    let beginning = "\napiserver flagz\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees \
                     and is for debugging purposes only.\n";
    let is_one = SEPARATORS.iter().any(|separator| texts[0] == format!("{beginning}a{separator}x y\nb{separator}1\n"));
    assert!(is_one, "{}", texts[0]);
}

#[tokio::test]
async fn a_library_tells_the_flags_of_its_settings() {
    let modes = [AuthorizationMode::Node, AuthorizationMode::Rbac];
    let server = start_with(builder().authorization_mode(modes).runtime_config([("api/all", "true")])).await;
    let mut client = Client::new(&server).await;
    let flags = client.ask("GET", "/flagz", &[FLAGZ], Bytes::new()).await.expect(200)["flags"].clone();
    for (name, value) in [
        ("authorization-mode", "[Node,RBAC]"),
        ("runtime-config", "api/all=true"),
        ("request-timeout", "1m0s"),
        ("service-account-issuer", "[https://kubernetes.default.svc]"),
        ("advertise-address", "<nil>"),
        ("allow-privileged", "true"),
    ] {
        assert_eq!(flags[name], json!(value), "{name}");
    }
}

#[tokio::test]
async fn requests_for_pages_are_counted_by_their_version() {
    let server = start_with(builder()).await;
    let mut client = Client::new(&server).await;
    let old = FLAGZ.1.replace("v1beta1", "v1alpha1");
    for (accept, code) in [("", 200), (FLAGZ.1, 200), (&*old, 200), ("application/json", 406)] {
        assert_eq!(client.ask("GET", "/flagz", &[("accept", accept)], Bytes::new()).await.code, code, "{accept}");
    }
    let metrics = client.get("/metrics").await;
    let count = |code: u16, group: &str, version: &str| {
        format!(
            "apiserver_request_total{{code=\"{code}\",component=\"apiserver\",dry_run=\"\",group=\"{group}\",resource=\"flagz\",scope=\"\",\
             subresource=\"\",verb=\"GET\",version=\"{version}\"}} 1"
        )
    };
    let gauge = "apiserver_requested_deprecated_apis{group=\"config.k8s.io\",removed_release=\"\",resource=\"flagz\",subresource=\"\",\
                 version=\"v1alpha1\"} 1";
    for line in [
        count(200, "", ""),
        count(406, "", ""),
        count(200, "config.k8s.io", "v1beta1"),
        count(200, "config.k8s.io", "v1alpha1"),
        gauge.to_owned(),
    ] {
        assert!(metrics.text().lines().any(|found| found == line), "no {line} in\n{}", metrics.text());
    }
}
