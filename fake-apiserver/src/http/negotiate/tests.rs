//! Negotiation, header by header.

use super::*;

const V1: MetaVersion = MetaVersion::V1;
const ROUTER: &str = "406: Not Acceptable\n\nAvailable representations: \
                      application/json, application/json;stream=watch";
const HANDLER: &str = "only the following media types are accepted: application/json";

fn accepting(accept: &str) -> Preferences<'_> {
    Preferences { accept, pretty: "", user_agent: "" }
}

/// kube-apiserver 1.37's answers for a list, less the YAML and protobuf that it would offer or send.
#[test]
fn lists() {
    for (accept, expected) in [
        ("", Ok(None)),
        ("application/json", Ok(None)),
        ("*/*", Ok(None)),
        ("*", Err(ROUTER)),
        ("application/*", Err(ROUTER)),
        ("text/*", Err(ROUTER)),
        ("text/plain", Err(ROUTER)),
        ("json", Err(ROUTER)),
        ("APPLICATION/JSON", Err(ROUTER)),
        ("application/cbor", Err(ROUTER)),
        ("text/plain, */*;q=0.1", Ok(None)),
        ("text/html, application/xhtml+xml, */*;q=0.8", Ok(None)),
        (",,application/json", Ok(None)),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", Ok(Some(Form::Table(V1)))),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", Ok(Some(Form::Table(MetaVersion::V1Beta1)))),
        ("application/json; as = Table ; v=v1;g=meta.k8s.io", Ok(Some(Form::Table(V1)))),
        ("*/*;as=Table;v=v1;g=meta.k8s.io", Ok(Some(Form::Table(V1)))),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Ok(Some(Form::Table(V1)))),
        (
            "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,\
             application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            Ok(Some(Form::Table(V1))),
        ),
        ("application/json;q=0.5,application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9", Ok(Some(Form::Table(V1)))),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", Ok(Some(Form::PartialObjectMetadata(V1)))),
        (
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            Ok(Some(Form::PartialObjectMetadataList(V1))),
        ),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io,application/json", Ok(None)),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io", Err(HANDLER)),
        ("application/json;as=Table;v=v2;g=meta.k8s.io", Err(HANDLER)),
        ("application/json;as=Table;v=v1", Err(HANDLER)),
        ("application/json;as=\"Table\";v=v1;g=meta.k8s.io", Err(HANDLER)),
        ("application/json;v=v1", Err(HANDLER)),
        ("application/json;g=meta.k8s.io", Err(HANDLER)),
        ("application/json;g=;v=;as=", Ok(None)),
        ("application/json;stream=watch", Ok(None)),
        ("application/json;stream=foo", Err(HANDLER)),
        ("application/json;charset=utf-8", Ok(None)),
        ("application/json;q=0", Ok(None)),
        ("application/json;q=x", Ok(None)),
    ] {
        let actual = accepting(accept).output(Endpoint::Collection);
        assert_eq!(
            actual.map(|output| output.form).map_err(|error| error.to_string()),
            expected.map_err(str::to_string),
            "{accept:?}"
        );
    }
}

#[test]
fn the_router_is_not_everywhere() {
    for (endpoint, expected) in [
        (Endpoint::Object, "406: Not Acceptable\n\nAvailable representations: application/json"),
        (Endpoint::Unrouted, HANDLER),
    ] {
        assert_eq!(accepting("text/plain").output(endpoint).unwrap_err().to_string(), expected);
    }
}

#[test]
fn documents_are_not_converted() {
    let preferences = accepting("application/json;as=Table;v=v1;g=meta.k8s.io");
    assert_eq!(preferences.output(Endpoint::Document).unwrap_err().to_string(), HANDLER);
}

#[test]
fn actions_have_no_tables() {
    let forms = |accept| accepting(accept).output(Endpoint::Action).ok().map(|output| output.form);
    assert_eq!(forms("application/json;as=Table;v=v1;g=meta.k8s.io"), None);
    assert_eq!(forms("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), Some(None));
    let metadata = Form::PartialObjectMetadata(V1);
    assert_eq!(forms("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"), Some(Some(metadata)));
}

/// As kube-apiserver 1.37 decides it, which removed `v2beta1`.
#[test]
fn aggregated_discovery() {
    const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    for (accept, expected) in [
        (V2.to_string(), true),
        (format!("{V2};profile=nopeer"), true),
        (format!("application/json, {V2}"), true),
        (format!("application/json;q=0.9, {V2};q=0.1"), true),
        (format!("{V2},{},application/json", V2.replace("v2", "v2beta1")), true),
        (V2.replace("v2", "v2beta1"), false),
        ("application/json".to_string(), false),
        ("*/*".to_string(), false),
        ("".to_string(), false),
    ] {
        let preferences = accepting(&accept);
        assert_eq!(preferences.aggregated_discovery(), expected, "{accept:?}");
    }
}

/// As kube-apiserver 1.37 indents.
#[test]
fn pretty() {
    for (accept, pretty, user_agent, output, refusal) in [
        ("", "", "kubectl/v1.37.1", false, false),
        ("", "", "curl/8.5.0", true, true),
        ("", "false", "curl/8.5.0", false, false),
        ("", "", "Wget/1", true, true),
        ("", "true", "", true, true),
        ("", "yes", "Mozilla/5.0 (X11)", false, false),
        ("", "", "Mozilla/4.0", false, false),
        ("application/json;pretty=1", "", "", true, true),
        ("application/json;pretty=true", "", "", false, false),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", "", "", false, true),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "", "", false, false),
    ] {
        let preferences = Preferences { accept, pretty, user_agent };
        let actual = preferences.output(Endpoint::Object).unwrap().pretty;
        assert_eq!((actual, preferences.pretty_refusal()), (output, refusal), "{preferences:?}");
    }
}

/// A refusal is compact for those who would have taken JSON, though the router would not have it.
#[test]
fn refusals_of_the_router() {
    for (accept, pretty) in [("application/*", false), ("*", false), ("text/plain", true)] {
        let preferences = accepting(accept);
        assert_eq!(preferences.pretty_refusal(), pretty, "{accept:?}");
    }
}
