//! Tests of declarative validation, by tables.

use super::program::{Call, Check, OPTIONAL, Program};
use super::{validate, validate_optional};
use crate::error::{FieldError, Path};
use crate::schema::{every_type, lookup};
use std::collections::{HashMap, HashSet};
use tree::{Value, json};

/// `apiVersion` and kind.
type Kind = (&'static str, &'static str);

/// A kind, its old object, the new one, and the expected errors.
type Update = (Kind, Value, Value, &'static [&'static str]);

fn findings(kind: Kind, new: &Value, old: Option<&Value>) -> Vec<String> {
    let ty = lookup(kind.0, kind.1).expect("the kind");
    validate(ty, new, old, Vec::new()).iter().map(ToString::to_string).collect()
}

const CLAIM: Kind = ("resource.k8s.io/v1", "ResourceClaim");
const SLICE: Kind = ("resource.k8s.io/v1", "ResourceSlice");
const RUNTIME: Kind = ("node.k8s.io/v1", "RuntimeClass");
const CLASS: Kind = ("storage.k8s.io/v1", "StorageClass");
const LEVEL: Kind = ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration");

#[test]
fn new_objects() {
    let requests: Vec<Value> = (0..33).map(|index| json!({"name": format!("r{index}")})).collect();
    let same = json!({"name": "a", "exactly": {"deviceClassName": "c"}});
    let table: &[(Kind, Value, &[&str])] = &[
        (RUNTIME, json!({"handler": "runc"}), &[]),
        (RUNTIME, json!({}), &["handler: Required value"]),
        (RUNTIME, json!({"handler": "a.b"}), &[r#"handler: Invalid value: "a.b": must not contain dots"#]),
        (
            CLAIM,
            json!({"spec": {"devices": {"requests": requests}}}),
            &["spec.devices.requests: Too many: 33: must have at most 32 items"],
        ),
        (
            CLAIM,
            json!({"spec": {"devices": {"requests": [same, same]}}}),
            &[r#"spec.devices.requests[1]: Duplicate value: {"name":"a","exactly":{"deviceClassName":"c"}}"#],
        ),
        (
            CLAIM,
            json!({"spec": {"devices": {"requests": [{"name": "a", "exactly": {"allocationMode": "x", "tolerations": [{"operator": "Exists", "effect": "y"}]}}]}}}),
            &[
                r#"spec.devices.requests[0].exactly.allocationMode: Unsupported value: "x": supported values: "All", "ExactCount""#,
                r#"spec.devices.requests[0].exactly.tolerations[0].effect: Unsupported value: "y": supported values: "NoExecute", "NoSchedule", "None""#,
            ],
        ),
        (
            SLICE,
            json!({"spec": {"devices": [{"name": "a", "attributes": {"x": {}, "y": {"int": 0, "string": "z"}}}]}}),
            &[
                r#"spec.devices[0].attributes[x]: Invalid value: "": must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"#,
                r#"spec.devices[0].attributes[y]: Invalid value: "{int, string}": must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"#,
            ],
        ),
        (
            SLICE,
            json!({"spec": {"sharedCounters": [{"name": "a", "counters": {"b_c": {"value": "1"}}}], "partitionTypeAttribute": "a.b/c"}}),
            &[
                "spec.sharedCounters[0].counters: Invalid value: \"b_c\": a lowercase RFC 1123 label must consist of lower case \
                 alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
                 '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                "spec.partitionTypeAttribute: Forbidden",
            ],
        ),
        (
            LEVEL,
            json!({"spec": {"type": "Exempt", "limited": {"limitResponse": {"type": "Reject"}}}}),
            &["spec.limited: Forbidden"],
        ),
        (LEVEL, json!({"spec": {"type": "Limited"}}), &["spec.limited: Required value"]),
        (
            LEVEL,
            json!({"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Queue"}}}}),
            &["spec.limited.limitResponse.queuing: Required value"],
        ),
        (CLASS, json!({}), &["provisioner: Required value"]),
    ];
    for (kind, new, expected) in table {
        assert_eq!(findings(*kind, new, None), *expected, "{new}");
    }
}

#[test]
fn updates_look_at_changes() {
    let claim = |devices: Value| json!({"spec": {"devices": devices}});
    let bad = claim(json!({"requests": [{"name": "a", "exactly": {"allocationMode": "x"}}]}));
    let mut labelled = bad.clone();
    labelled["metadata"]["labels"]["a"] = "b".into();
    let allocated = |name: &str| json!({"status": {"allocation": {"devices": {"results": [{"driver": name, "pool": "p", "device": "d"}]}}}});
    let table: &[Update] = &[
        (CLAIM, bad.clone(), labelled, &[]),
        (CLAIM, claim(json!({})), bad, &["spec: Invalid value: null: field is immutable"]),
        (
            RUNTIME,
            json!({"handler": "a"}),
            json!({"handler": "b"}),
            &["handler: Invalid value: null: field is immutable"],
        ),
        (RUNTIME, json!({}), json!({"metadata": {"labels": {"a": "b"}}}), &[]),
        (
            CLASS,
            json!({"provisioner": "a", "parameters": {"a": "b"}}),
            json!({"provisioner": "a", "parameters": {}}),
            &["parameters: Invalid value: null: field is immutable"],
        ),
        (CLAIM, json!({}), allocated("a"), &[]),
        (
            CLAIM,
            allocated("a"),
            allocated("b"),
            &["status.allocation: Invalid value: null: field cannot be modified once set"],
        ),
    ];
    for (kind, old, new, expected) in table {
        assert_eq!(findings(*kind, new, Some(old)), *expected, "{old} -> {new}");
    }
}

#[test]
fn covered_findings_by_hand_give_way() {
    let (new, ty) = (json!({}), lookup(RUNTIME.0, RUNTIME.1).expect("the kind"));
    let required = |detail: &str| FieldError::required(Path::new("handler"), detail);
    let texts = |by_hand| validate(ty, &new, None, by_hand).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(texts(vec![required("by hand").covered()]), ["handler: Required value"]);
    assert_eq!(texts(vec![required("by hand")]), ["handler: Required value: by hand", "handler: Required value"]);
    let other = FieldError::required(Path::new("scheduling"), "").covered();
    assert_eq!(texts(vec![other]), ["scheduling: Required value", "handler: Required value"]);
}

/// In an optional version fields may have other paths than in the storage version, which the rules by hand are about.
#[test]
fn covered_findings_have_the_paths_of_the_storage_version() {
    let ty = lookup("resource.k8s.io/v1beta1", "ResourceClaim").expect("the kind");
    let new = json!({"spec": {"devices": {"requests": [{"name": "a", "allocationMode": "x"}]}}});
    let moved =
        |path: &str| path.strip_suffix("[0].allocationMode").map(|list| format!("{list}[0].exactly.allocationMode"));
    let by_hand = |path: &str| vec![FieldError::unsupported(path, &"x".into(), &["All"]).covered()];
    let texts = |by_hand, path: fn(&str) -> Option<String>| {
        let findings = validate_optional(ty, &new, None, by_hand, path);
        findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let declared =
        r#"spec.devices.requests[0].allocationMode: Unsupported value: "x": supported values: "All", "ExactCount""#;
    let own = r#"spec.devices.requests[0].exactly.allocationMode: Unsupported value: "x": supported values: "All""#;
    let path = "spec.devices.requests[0].exactly.allocationMode";
    assert_eq!(texts(by_hand(path), moved), [declared]);
    assert_eq!(texts(by_hand(path), |_| None), [own, declared]);
}

/// All checks name fields, types and functions that exist; the interpreter comes only to those of a test's object.
#[test]
fn checks_are_about_what_exists() {
    let types: HashMap<&str, _> = every_type().map(|ty| (ty.name(), ty)).collect();
    let mut unknown = HashSet::new();
    let mut look = |call: &Call| match &call.check {
        Check::Custom(name) if !matches!(*name, "EvictionResponder_Name" | "EvictionResponder_Priority") => {
            unknown.insert(format!("function {name}"));
        }
        Check::Format(name) => {
            let known = super::formats::is_known(name);
            unknown.extend((!known).then(|| format!("format {name}")));
        }
        Check::Option(name, _) if !super::run::is_option(name) => drop(unknown.insert(format!("option {name}"))),
        _ => {}
    };
    OPTIONAL.all().flat_map(Program::all).for_each(|(_, ty)| ty.for_each(&mut look));
    for (name, ty) in OPTIONAL.all().flat_map(Program::all) {
        let Some(known) = types.get(name) else {
            unknown.insert(format!("type {name}"));
            continue;
        };
        let names = ty.fields.iter().filter_map(|field| field.name);
        unknown
            .extend(names.filter(|field| known.field(field).is_none()).map(|field| format!("field {field} of {name}")));
    }
    assert_eq!(unknown, HashSet::new());
}
