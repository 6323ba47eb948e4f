//! Negotiation, header by header.

use super::*;
use crate::registry::Registry;
use std::collections::BTreeSet;

const V1: MetaVersion = MetaVersion::V1;
const COMPACT: Encoding = Encoding::Json { pretty: false };
const PERSON: Encoding = Encoding::Json { pretty: true };
const ROUTER: &str = "406: Not Acceptable\n\nAvailable representations: \
                      application/json, application/yaml, application/vnd.kubernetes.protobuf, \
                      application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
const HANDLER: &str = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";

fn accepting(accept: &str) -> Preferences<'_> {
    Preferences { accept, pretty: "", user_agent: "" }
}

/// The answers of kube-apiserver 1.37 for a list.
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
        ("application/yaml;stream=watch", Err(HANDLER)),
        ("application/json;charset=utf-8", Ok(None)),
        ("application/json;q=0", Ok(None)),
        ("application/json;q=x", Ok(None)),
    ] {
        let actual = accepting(accept).output(Endpoint::Collection, true);
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
        (
            Endpoint::Object,
            "406: Not Acceptable\n\nAvailable representations: \
             application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ),
        (Endpoint::Unrouted, HANDLER),
    ] {
        assert_eq!(accepting("text/plain").output(endpoint, true).unwrap_err().to_string(), expected);
    }
}

#[test]
fn documents_are_not_converted() {
    let preferences = accepting("application/json;as=Table;v=v1;g=meta.k8s.io");
    assert_eq!(preferences.output(Endpoint::Document, true).unwrap_err().to_string(), HANDLER);
}

#[test]
fn actions_have_no_tables() {
    let forms = |accept| accepting(accept).output(Endpoint::Action, true).ok().map(|output| output.form);
    assert_eq!(forms("application/json;as=Table;v=v1;g=meta.k8s.io"), None);
    assert_eq!(forms("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), Some(None));
    let metadata = Form::PartialObjectMetadata(V1);
    assert_eq!(forms("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"), Some(Some(metadata)));
}

/// The decisions of kube-apiserver 1.37, which has no `v2beta1` any more.
#[test]
fn aggregated_discovery() {
    const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    for (accept, expected) in [
        (V2.to_string(), Some(COMPACT)),
        (format!("{V2};profile=nopeer"), Some(COMPACT)),
        (format!("application/json, {V2}"), Some(COMPACT)),
        (format!("application/json;q=0.9, {V2};q=0.1"), Some(COMPACT)),
        (format!("{PROTOBUF}, {V2}"), Some(COMPACT)),
        (format!("{V2},{},application/json", V2.replace("v2", "v2beta1")), Some(COMPACT)),
        (format!("{},application/json", V2.replace(JSON, PROTOBUF)), Some(Encoding::Protobuf)),
        (V2.replace("v2", "v2beta1"), None),
        ("application/json".to_string(), None),
        (PROTOBUF.to_string(), None),
        ("*/*".to_string(), None),
        ("".to_string(), None),
    ] {
        let preferences = accepting(&accept);
        assert_eq!(preferences.aggregated_discovery(), expected, "{accept:?}");
    }
}

/// The indentation of kube-apiserver 1.37.
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
        let actual = preferences.output(Endpoint::Object, true).unwrap().encoding;
        let expected = [output, refusal].map(|pretty| Encoding::Json { pretty });
        assert_eq!([actual, preferences.refusal()], expected, "{preferences:?}");
    }
}

/// A refusal is compact if the handler would have accepted JSON, even though the router does not.
#[test]
fn refusals_of_the_router() {
    for (accept, refusal) in [("application/*", COMPACT), ("*", COMPACT), ("text/plain", PERSON)] {
        assert_eq!(accepting(accept).refusal(), refusal, "{accept:?}");
    }
}

/// The encodings of kube-apiserver 1.37 for an object and for a refusal.
#[test]
fn protobuf() {
    const METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    const TABLE: &str = "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io";
    let metadata = Some(Form::PartialObjectMetadata(V1));
    for (accept, expected, refusal) in [
        (PROTOBUF.to_owned(), Some((None, Encoding::Protobuf)), Encoding::Protobuf),
        (format!("{PROTOBUF},{JSON}"), Some((None, Encoding::Protobuf)), Encoding::Protobuf),
        (format!("{PROTOBUF}, */*"), Some((None, Encoding::Protobuf)), Encoding::Protobuf),
        (format!("*/*,{PROTOBUF}"), Some((None, Encoding::Protobuf)), Encoding::Protobuf),
        (format!("{JSON},{PROTOBUF}"), Some((None, COMPACT)), COMPACT),
        (format!("{JSON};q=0.5,{PROTOBUF}"), Some((None, Encoding::Protobuf)), Encoding::Protobuf),
        (format!("{PROTOBUF};pretty=1"), Some((None, Encoding::Protobuf)), Encoding::Protobuf),
        (format!("{PROTOBUF};stream=watch"), Some((None, Encoding::Protobuf)), Encoding::Protobuf),
        (METADATA.to_owned(), Some((metadata, Encoding::Protobuf)), PERSON),
        (format!("{METADATA},{JSON}"), Some((metadata, Encoding::Protobuf)), COMPACT),
        (format!("{METADATA},{PROTOBUF}"), Some((metadata, Encoding::Protobuf)), Encoding::Protobuf),
        (TABLE.to_owned(), None, PERSON),
        (format!("{TABLE},{JSON}"), Some((None, COMPACT)), COMPACT),
        ("application/vnd.kubernetes.protobuf2".to_owned(), None, PERSON),
    ] {
        let preferences = accepting(&accept);
        let actual = preferences.output(Endpoint::Object, true).ok().map(|output| (output.form, output.encoding));
        assert_eq!((actual, preferences.refusal()), (expected, refusal), "{accept:?}");
    }
}

/// The encodings of kube-apiserver 1.37 for an object and for a refusal.
#[test]
fn yaml() {
    let table = Some(Form::Table(V1));
    for (accept, expected, refusal) in [
        ("application/yaml", (None, Encoding::Yaml), Encoding::Yaml),
        ("application/yaml, */*", (None, Encoding::Yaml), Encoding::Yaml),
        ("application/json,application/yaml", (None, COMPACT), COMPACT),
        ("application/json;q=0.5,application/yaml", (None, Encoding::Yaml), Encoding::Yaml),
        ("application/yaml;pretty=1", (None, Encoding::Yaml), Encoding::Yaml),
        ("application/yaml;as=Table;v=v1;g=meta.k8s.io", (table, Encoding::Yaml), PERSON),
        ("application/yaml;stream=watch,application/json", (None, COMPACT), COMPACT),
    ] {
        let preferences = accepting(accept);
        let actual = preferences.output(Endpoint::Object, true).ok().map(|output| (output.form, output.encoding));
        assert_eq!((actual, preferences.refusal()), (Some(expected), refusal), "{accept:?}");
    }
}

#[test]
fn custom_resources_have_no_protobuf() {
    let json = format!("{PROTOBUF},{JSON}");
    let metadata = format!("{PROTOBUF};as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
    for (accept, expected) in
        [(PROTOBUF, Err(HANDLER.to_owned())), (&json, Ok(COMPACT)), (&metadata, Ok(Encoding::Protobuf))]
    {
        let output = accepting(accept).output(Endpoint::Object, false);
        assert_eq!(output.map(|output| output.encoding).map_err(|error| error.to_string()), expected, "{accept}");
    }
}

#[test]
fn a_media_type_is_preferred() {
    for (accept, preferred) in [
        ("", Some(0)),
        (PROTOBUF, Some(1)),
        ("*/*", Some(0)),
        ("application/json;as=x", Some(0)),
        ("application/vnd.kubernetes.protobuf,application/json", Some(1)),
        ("application/vnd.kubernetes.protobuf;q=0.5,application/json", Some(0)),
        ("text/plain", None),
        ("application/*", Some(0)),
    ] {
        assert_eq!(accepting(accept).preferred(&[JSON, PROTOBUF]), preferred, "{accept:?}");
    }
}

/// Watchers share frames only of the same version, form and encoding.
#[test]
fn frames_are_kept_by_version_form_and_encoding() {
    let registry = Registry::built_in();
    let versions = [("", "v1"), ("events.k8s.io", "v1")].map(|(group, version)| {
        let served = registry.path(group, version, "events").expect("events are served");
        served.version
    });
    let metadata = [Form::PartialObjectMetadata, Form::PartialObjectMetadataList]
        .map(|form| [V1, MetaVersion::V1Beta1].map(form))
        .concat();
    let encodings = [COMPACT, Encoding::Protobuf];
    let ids = |version: &Version, form| {
        encodings.map(|encoding| Output { form, encoding }.id(version).map(|FormId(number)| number))
    };
    let mut all: Vec<_> = versions.iter().flat_map(|version| ids(version, None)).collect();
    for form in metadata {
        let of_one = ids(versions[0], Some(form));
        assert_eq!(of_one, ids(versions[1], Some(form)), "metadata is the same in all versions");
        all.extend(of_one);
    }
    assert!(all.iter().all(Option::is_some));
    assert_eq!(all.len(), all.iter().flatten().collect::<BTreeSet<_>>().len(), "{all:?}");
    assert_eq!(ids(versions[0], Some(Form::Table(V1))), [None, None]);
}

#[test]
fn clauses_are_ordered_as_by_go() {
    #[derive(serde::Deserialize)]
    struct Ordering {
        accept: String,
        order: Vec<usize>,
    }
    for line in include_str!("../../../../fixtures/accept.jsonl").lines() {
        let vector: Ordering = serde_json::from_str(line).expect("a line is a vector");
        let clauses = accepting(&vector.accept).clauses();
        let found: Vec<usize> =
            clauses.iter().map(|clause| clause.parameter("n").expect("a number").parse().expect("a number")).collect();
        assert_eq!(found, vector.order, "{}", vector.accept);
    }
}

/// Comparisons are counted, for as many clauses as the head of a request has room for.
#[test]
fn the_order_of_many_clauses_takes_few_comparisons() {
    for accept in ["*,", "a/b,", "a/b,*,", "*/b,a/*,*,a/b;q=0,", "a/*,a/*,*/b,"] {
        let accept = accept.repeat(900_000 / accept.len());
        let mut clauses: Vec<Clause<'_>> = accept.split(',').filter_map(Clause::parse).collect();
        let (comparisons, count) = (std::cell::Cell::new(0_usize), clauses.len());
        sort::sort(&mut clauses, |one, other| {
            comparisons.set(comparisons.get() + 1);
            one.precedes(other)
        });
        assert!(comparisons.get() < 40 * count, "{} comparisons of {count} clauses", comparisons.get());
    }
}
