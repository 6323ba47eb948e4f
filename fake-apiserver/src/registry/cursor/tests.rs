//! Tests of the cursor, and of the names that rules give it.

use super::*;
use crate::object::name;
use crate::schema::every_type;
use std::collections::HashSet;
use std::path::Path as FilePath;
use std::{fs, io};
use tree::json;

fn findings(object: &Value, rules: impl FnOnce(At<'_, '_>, &mut Errors)) -> Vec<String> {
    let found = Errors::of(|errors| rules(At::object(object, "apps/v1", "Deployment"), errors));
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn findings_show_the_path_and_the_value() {
    let object = json!({"spec": {
        "replicas": -1,
        "strategy": {"type": "x"},
        "template": {"spec": {"containers": [{"name": "a"}, {"name": "A", "resources": {"limits": {"cpu": "1"}}}]}},
    }});
    type Rule = fn(At<'_, '_>, &mut Errors);
    let table: &[(Rule, &[&str])] = &[
        (
            |at, errors| at.field("spec.replicas").not_negative(errors),
            &["spec.replicas: Invalid value: -1: must be greater than or equal to 0"],
        ),
        (
            |at, errors| at.field("spec").field("replicas").between(1..=2, errors),
            &["spec.replicas: Invalid value: -1: must be between 1 and 2, inclusive"],
        ),
        (
            |at, errors| at.field("spec.strategy").unsupported(&["Recreate"], errors),
            &[r#"spec.strategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: "Recreate""#],
        ),
        (
            |at, errors| at.field("spec.strategy.rollingUpdate.maxSurge").invalid("bad", errors),
            &["spec.strategy.rollingUpdate.maxSurge: Invalid value: null: bad"],
        ),
        (
            |at, errors| {
                for container in at.field("spec.template.spec.containers").items() {
                    container.field("name").required_by(name::dns_label, errors);
                    container.field("image").set(errors);
                    for (key, limit) in container.field("resources.limits").entries() {
                        limit.forbidden(key, errors);
                    }
                }
            },
            &[
                "spec.template.spec.containers[0].image: Required value",
                r#"spec.template.spec.containers[1].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"#,
                "spec.template.spec.containers[1].image: Required value",
                "spec.template.spec.containers[1].resources.limits[cpu]: Forbidden: cpu",
            ],
        ),
        (
            |at, errors| at.field("spec.selector").shown_at(Path::new("elsewhere")).duplicate(errors),
            &["elsewhere: Duplicate value: null"],
        ),
    ];
    for (rule, expected) in table {
        assert_eq!(findings(&object, rule), *expected);
    }
}

#[test]
fn a_value_stays_if_go_sees_no_difference() {
    let at = |object| At::object(object, "apps/v1", "Deployment");
    let (old, new) = (json!({"spec": {"selector": {"matchLabels": {}}}}), json!({"spec": {"selector": {}}}));
    let selector = |object| {
        Errors::of(|errors| at(object).field("spec.selector").immutable(&at(&old).field("spec.selector"), errors))
    };
    assert!(selector(&new).is_empty());
    let changed = selector(&json!({"spec": {"selector": {"matchLabels": {"a": "b"}}}}));
    assert_eq!(
        changed[0].to_string(),
        r#"spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: field is immutable"#
    );
}

#[test]
#[should_panic(expected = "apps/v1.DeploymentSpec has no field replica")]
fn names_that_the_type_lacks_panic() {
    findings(&json!({}), |at, errors| at.field("spec.replica").not_negative(errors));
}

/// The field names in a source file: the literals behind `.field(`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(".field(\"").skip(1).filter_map(|rest| rest.split('"').next())
}

fn visit(directory: &FilePath, look: &mut impl FnMut(&FilePath, &str)) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        match path.is_dir() {
            true => visit(&path, look)?,
            false => look(&path, &fs::read_to_string(&path)?),
        }
    }
    Ok(())
}

/// A rule that is never come to would not panic.
#[test]
fn all_names_in_rules_are_fields() {
    let known: HashSet<&str> = every_type().flat_map(|ty| ty.fields().iter().map(|field| field.name())).collect();
    let mut unknown = Vec::new();
    let mut look = |path: &FilePath, text: &str| {
        let names = names(text).flat_map(|names| names.split('.')).filter(|name| !known.contains(name));
        unknown.extend(names.map(|name| format!("{}: {name}", path.display())));
    };
    visit(&FilePath::new(env!("CARGO_MANIFEST_DIR")).join("src/registry"), &mut look).expect("the sources are there");
    unknown.retain(|found| !found.ends_with("cursor/tests.rs: replica"));
    assert_eq!(unknown, Vec::<String>::new());
}
