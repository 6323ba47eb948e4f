//! Policies that the real server (v1.37.1) refuses, with its words.

use super::*;

const HEAD: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";
const NO_VERSION: &str = "unknown group version field audit.k8s.io/__internal, Kind=Policy in policy";
const SCHEME: &str = "in scheme \"pkg/runtime/scheme.go:111\"";
const STRUCT: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// The error of a policy; "" if it has none.
fn error(text: &str) -> String {
    parse(text).err().unwrap_or_default()
}

#[test]
fn texts_that_are_no_policy_are_refused() {
    for (text, expected) in [
        (format!("{HEAD}rules: [{{level: Metadata}}]"), String::new()),
        ("apiVersion: audit.k8s.io/v1\nrules: [{level: Metadata}]".into(), String::new()),
        // What is unknown or repeated is left out.
        (format!("{HEAD}odd: 1\nrules: [{{level: None, level: Metadata}}]"), String::new()),
        (String::new(), NO_VERSION.into()),
        ("rules: [{level: None}]".into(), NO_VERSION.into()),
        ("kind: Policy\nrules: [{level: None}]".into(), NO_VERSION.into()),
        (
            "apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: [{level: None}]".into(),
            format!("failed decoding: no kind \"Policy\" is registered for version \"audit.k8s.io/v1beta1\" {SCHEME}"),
        ),
        (
            "apiVersion: v1\nkind: Pod".into(),
            format!("failed decoding: no kind \"Pod\" is registered for version \"v1\" {SCHEME}"),
        ),
        (HEAD.into(), "loaded illegal policy with 0 rules".into()),
        (
            format!("{HEAD}rules: 5"),
            "failed decoding: json: cannot unmarshal number into Go struct field Policy.rules of type []v1.PolicyRule".into(),
        ),
        (
            format!("{HEAD}rules: [{{level: None, namespaces: [n]}}]"),
            "failed decoding: json: cannot unmarshal bool into Go struct field PolicyRule.rules.namespaces of type string".into(),
        ),
        ("a: b: c".into(), "failed decoding: yaml: mapping values are not allowed in this context".into()),
        (
            "- a".into(),
            format!("failed decoding: couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type {STRUCT}"),
        ),
    ] {
        assert_eq!(error(&text), expected, "{text}");
    }
}

#[test]
fn rules_are_validated() {
    const STAGES: &str = "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic";
    let text = format!(
        "{HEAD}rules: [{{}}, {{level: X}}, {{level: None, nonResourceURLs: [a, /b*c, '*', ''], resources: [{{group: A/b, resourceNames: [x]}}], \
         namespaces: [ns], omitStages: [Why]}}]\nomitStages: [X, Panic]"
    );
    let subdomain = dns_subdomain("A/b").join(",");
    let expected = [
        format!("omitStages[0]: Invalid value: \"X\": {STAGES}"),
        "rules[0].level: Required value".into(),
        "rules[1].level: Unsupported value: \"X\": supported values: \"None\", \"Metadata\", \"Request\", \"RequestResponse\"".into(),
        "rules[2].nonResourceURLs[0]: Invalid value: \"a\": non-resource URL rules must begin with a '/' character".into(),
        "rules[2].nonResourceURLs[1]: Invalid value: \"/b*c\": non-resource URL wildcards '*' must be the final character of the rule".into(),
        "rules[2].nonResourceURLs[3]: Invalid value: \"\": non-resource URL rules must begin with a '/' character".into(),
        format!("rules[2].resources.group: Invalid value: \"A/b\": {subdomain}"),
        "rules[2].resources.resourceNames: Invalid value: [\"x\"]: using resourceNames requires at least one resource".into(),
        format!("rules[2].omitStages[0]: Invalid value: \"Why\": {STAGES}"),
        "rules[2].nonResourceURLs: Invalid value: [\"a\",\"/b*c\",\"*\",\"\"]: rules cannot apply to both regular resources and non-resource URLs".into(),
    ];
    assert_eq!(error(&text), format!("[{}]", expected.join(", ")));
    assert_eq!(
        error(&format!("{HEAD}rules: [{{level: None, nonResourceURLs: [/a, /b], namespaces: [ns]}}]")),
        "rules[0].nonResourceURLs: Invalid value: [\"/a\",\"/b\"]: rules cannot apply to both regular resources and non-resource URLs"
    );
}
