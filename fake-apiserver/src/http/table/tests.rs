//! Tables of objects and of events.

use super::*;
use crate::discovery::samples;

const LEASE: &str = r#"{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"a","resourceVersion":"7","creationTimestamp":"1970-01-01T00:00:00Z"},"spec":{"x":1}}"#;
const LEASE_METADATA: &str = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"7","creationTimestamp":"1970-01-01T00:00:00Z"}}"#;
const BOOKMARK: &str = r#"{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"8"}}"#;
const INITIAL_END: &str = r#"{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}"#;

fn lease() -> Arc<Version> {
    let registry = samples::registry();
    registry.path("coordination.k8s.io", "v1", "leases").unwrap().version.clone()
}

/// The columns of leases: name, holder, age.
fn columns() -> String {
    let columns = lease().columns.iter().map(|column| encode(&ColumnDefinition::of(column))).collect::<Vec<_>>();
    format!("[{}]", columns.iter().map(|json| std::str::from_utf8(json).unwrap()).collect::<Vec<_>>().join(","))
}

fn transformation(form: fn(MetaVersion) -> Form, include_object: &str) -> Transformation {
    Transformation::new(lease(), form(MetaVersion::V1), include_object, &Deadline::default()).unwrap()
}

fn object(transformation: &mut Transformation, json: &str) -> String {
    let now = Timestamp::from_second(5).unwrap();
    String::from_utf8(transformation.object(json.as_bytes(), 0, now).unwrap()).unwrap()
}

fn table(version: &str, columns: &str, cells: &str, object: &str) -> String {
    format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"{version}"}},"columnDefinitions":{columns},"rows":[{{"cells":{cells},"object":{object}}}]}}"#
    )
}

/// The events of kube-apiserver 1.37.
#[test]
fn events_name_the_columns_once() {
    let mut watch = transformation(Form::Table, "");
    assert_eq!(object(&mut watch, LEASE), table("7", &columns(), r#"["a","","5s"]"#, LEASE_METADATA));
    assert_eq!(object(&mut watch, LEASE), table("7", "null", r#"["a","","5s"]"#, LEASE_METADATA));
    assert_eq!(
        object(&mut watch, BOOKMARK),
        table(
            "8",
            "null",
            r#"["","","\u003cunknown\u003e"]"#,
            r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"8"}}"#
        )
    );
}

#[test]
fn rows_include_what_was_asked() {
    for (include_object, json, expected) in [
        ("None", LEASE, "null"),
        ("Metadata", LEASE, LEASE_METADATA),
        ("", LEASE, LEASE_METADATA),
        ("Object", LEASE, LEASE),
        ("Object", BOOKMARK, BOOKMARK),
        ("None", BOOKMARK, "null"),
    ] {
        let mut transformation = transformation(Form::Table, include_object);
        let table = object(&mut transformation, json);
        assert!(table.ends_with(&format!(r#","object":{expected}}}]}}"#)), "{include_object}: {table}");
    }
    let mut none = transformation(Form::Table, "None");
    assert!(object(&mut none, INITIAL_END).contains("initial-events-end"), "clients wait for the annotation");
    assert_eq!(
        Transformation::new(lease(), Form::Table(MetaVersion::V1), "Foo", &Deadline::default())
            .unwrap_err()
            .to_string(),
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Foo\": \
         must be 'Metadata', 'Object', 'None', or empty"
    );
}

#[test]
fn lists() {
    let page = ListMeta { resource_version: "9".into(), r#continue: "t".into(), remaining_item_count: Some(3) };
    let empty = |form, page: &ListMeta| {
        let json = transformation(form, "None").empty_list(page);
        json.map(|json| String::from_utf8(json).unwrap()).map_err(|error| error.to_string())
    };
    let item = |form| {
        let json = transformation(form, "None").item(LEASE.as_bytes(), 0, Timestamp::UNIX_EPOCH);
        String::from_utf8(json.unwrap()).unwrap()
    };
    assert_eq!(
        empty(Form::Table, &page).unwrap(),
        format!(
            r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{"resourceVersion":"9","continue":"t","remainingItemCount":3}},"columnDefinitions":{columns},"rows":[]}}"#,
            columns = columns(),
        )
    );
    assert_eq!(item(Form::Table), r#"{"cells":["a","","0s"],"object":null}"#);
    let last = ListMeta { resource_version: "9".into(), ..ListMeta::default() };
    assert_eq!(
        empty(Form::PartialObjectMetadataList, &last).unwrap(),
        r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":null}"#
    );
    assert_eq!(item(Form::PartialObjectMetadataList), LEASE_METADATA);
    assert_eq!(
        empty(Form::PartialObjectMetadata, &last).unwrap_err(),
        "you requested PartialObjectMetadata, but the requested object is a list (*coordination.LeaseList)"
    );
}

#[test]
fn objects() {
    assert_eq!(object(&mut transformation(Form::PartialObjectMetadata, ""), LEASE), LEASE_METADATA);
    let error = transformation(Form::PartialObjectMetadataList, "")
        .object(LEASE.as_bytes(), 0, Timestamp::UNIX_EPOCH)
        .unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        (406, "you requested PartialObjectMetadataList, but the requested object is not a list (*coordination.Lease)")
    );
}
