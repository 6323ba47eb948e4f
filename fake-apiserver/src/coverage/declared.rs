//! The rules that an object has, and the outcomes that they can have.

use super::words::{
    ALLOWED, APPLIED, CALLED, CLUSTER_ROLE, DEFINITION, FALSE, KINDS, MUTATING_POLICY, MUTATING_WEBHOOKS, Owner, ROLE,
    TRUE, VALIDATING_POLICY, VALIDATING_WEBHOOKS,
};
use crate::object::meta;
use tree::Value;

/// The outcomes of an expression.
pub(super) const VALUES: &[&str] = &[TRUE, FALSE];
/// The label of roles that every cluster has.
const BOOTSTRAPPING: &str = "kubernetes.io/bootstrapping";
/// The operations that `*` stands for.
const OPERATIONS: [&str; 4] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

type Rules = Vec<(String, &'static [&'static str])>;

/// The rules of an object; `None` if it is of no kind that has some, or every cluster has it.
pub(super) fn rules(object: &Value) -> Option<(Owner<'_>, Rules)> {
    let kind = KINDS.into_iter().find(|kind| object["kind"] == *kind)?;
    let name = meta::name(object);
    if meta::labels(object).get(BOOTSTRAPPING).is_some() || name.starts_with("system:") {
        return None;
    }
    let owner = Owner { kind, namespace: meta::namespace(object), name };
    let mut rules = Rules::new();
    match kind {
        VALIDATING_POLICY => {
            expressions(&object["spec"]["matchConditions"], "condition", &mut rules);
            expressions(&object["spec"]["validations"], "validation", &mut rules);
        }
        MUTATING_POLICY => {
            expressions(&object["spec"]["matchConditions"], "condition", &mut rules);
            for mutation in items(&object["spec"]["mutations"]) {
                let kinds = ["applyConfiguration", "jsonPatch"].into_iter();
                let text = kinds.filter_map(|kind| mutation[kind]["expression"].as_str()).next();
                rules.push((expression("mutation", text.unwrap_or_default()), &[APPLIED]));
            }
        }
        VALIDATING_WEBHOOKS | MUTATING_WEBHOOKS => {
            items(&object["webhooks"]).iter().for_each(|hook| webhook(hook, &mut rules))
        }
        DEFINITION => {
            for version in items(&object["spec"]["versions"]) {
                let name = version["name"].as_str().unwrap_or_default();
                schema(&version["schema"]["openAPIV3Schema"], name, String::new(), &mut rules);
            }
        }
        CLUSTER_ROLE | ROLE => items(&object["rules"]).iter().for_each(|rule| role(rule, &mut rules)),
        _ => {}
    }
    Some((owner, rules))
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn texts(list: &Value) -> Vec<&str> {
    items(list).iter().filter_map(Value::as_str).collect()
}

/// An expression as a rule.
pub(crate) fn expression(what: &str, text: &str) -> String {
    format!("{what} {}", text.trim())
}

fn expressions(list: &Value, what: &str, rules: &mut Rules) {
    let texts = items(list).iter().filter_map(|item| item["expression"].as_str());
    rules.extend(texts.map(|text| (expression(what, text), VALUES)));
}

fn webhook(webhook: &Value, rules: &mut Rules) {
    let name = webhook["name"].as_str().unwrap_or_default();
    expressions(&webhook["matchConditions"], &format!("{name} condition"), rules);
    let named = items(&webhook["rules"]).iter().flat_map(|rule| texts(&rule["operations"]));
    let mut operations: Vec<&str> = named.collect();
    if operations.contains(&"*") {
        operations = OPERATIONS.into();
    }
    rules.extend(operations.into_iter().map(|operation| (format!("{name} {operation}"), &[CALLED][..])));
}

/// The rules about the values of a schema, each with the version and the place, in which `[]` stands for any item and any other field.
fn schema(schema_: &Value, version: &str, at: String, rules: &mut Rules) {
    expressions_at(&schema_["x-kubernetes-validations"], version, &at, rules);
    for (name, property) in schema_["properties"].as_object().into_iter().flatten() {
        let at = if at.is_empty() { name.to_string() } else { format!("{at}.{name}") };
        schema(property, version, at, rules);
    }
    for below in ["items", "additionalProperties"] {
        if schema_[below].is_object() {
            schema(&schema_[below], version, format!("{at}[]"), rules);
        }
    }
}

fn expressions_at(list: &Value, version: &str, at: &str, rules: &mut Rules) {
    let texts = items(list).iter().filter_map(|item| item["rule"].as_str());
    rules.extend(texts.map(|text| (expression(&place(version, at), text), VALUES)));
}

/// A place of a version: what stands before the rules there.
pub(crate) fn place(version: &str, at: &str) -> String {
    match at {
        "" => format!("{version}:"),
        at => format!("{version} {at}:"),
    }
}

fn role(rule: &Value, rules: &mut Rules) {
    let [resources, groups, names, paths] =
        ["resources", "apiGroups", "resourceNames", "nonResourceURLs"].map(|field| texts(&rule[field]));
    let verbs = texts(&rule["verbs"]);
    rules.extend(verbs.iter().map(|verb| (of_role(verb, &resources, &groups, &names, &paths), &[ALLOWED][..])));
}

/// A verb of a rule of a role: `get pods`, `update deployments in apps, named web`.
pub(crate) fn of_role<S: AsRef<str>>(verb: &str, resources: &[S], groups: &[S], names: &[S], paths: &[S]) -> String {
    let joined = |list: &[S]| list.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(",");
    let what = if resources.is_empty() { joined(paths) } else { joined(resources) };
    let is_core = groups.iter().all(|group| group.as_ref().is_empty());
    let within = if is_core { String::new() } else { format!(" in {}", joined(groups)) };
    let named = if names.is_empty() { String::new() } else { format!(", named {}", joined(names)) };
    format!("{verb} {what}{within}{named}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn names(object: &Value) -> Vec<String> {
        rules(object).map(|(_, rules)| rules.into_iter().map(|(rule, _)| rule).collect()).unwrap_or_default()
    }

    #[test]
    fn every_kind_has_its_rules() {
        let policy = json!({
            "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
            "spec": {"matchConditions": [{"name": "c", "expression": "true"}], "validations": [{"expression": " a > 1\n"}]},
        });
        assert_eq!(names(&policy), ["condition true", "validation a > 1"]);
        let mutation = json!({
            "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"},
            "spec": {"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}]},
        });
        assert_eq!(names(&mutation), ["mutation []"]);
        let hooks = json!({
            "kind": "MutatingWebhookConfiguration", "metadata": {"name": "h"},
            "webhooks": [{"name": "a", "rules": [{"operations": ["*"]}], "matchConditions": [{"name": "c", "expression": "x"}]}],
        });
        assert_eq!(names(&hooks), ["a condition x", "a CREATE", "a UPDATE", "a DELETE", "a CONNECT"]);
        let rule = json!([{"rule": "self > 1"}]);
        let definition = json!({
            "kind": "CustomResourceDefinition", "metadata": {"name": "d"},
            "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
                "x-kubernetes-validations": rule.clone(),
                "properties": {"spec": {"properties": {"l": {"items": {"x-kubernetes-validations": rule.clone()}}}}},
            }}}]},
        });
        assert_eq!(names(&definition), ["v1: self > 1", "v1 spec.l[]: self > 1"]);
        let role = json!({
            "kind": "Role", "metadata": {"name": "r", "namespace": "n"},
            "rules": [{"verbs": ["get", "list"], "resources": ["pods", "pods/log"], "apiGroups": [""]},
                {"verbs": ["update"], "resources": ["deployments"], "apiGroups": ["apps"], "resourceNames": ["web"]}],
        });
        assert_eq!(names(&role), ["get pods,pods/log", "list pods,pods/log", "update deployments in apps, named web"]);
        let own = json!({"kind": "ClusterRole", "metadata": {"name": "system:x"}, "rules": [{"verbs": ["get"]}]});
        assert_eq!(names(&own), [""; 0]);
        assert_eq!(names(&json!({"kind": "Pod"})), [""; 0]);
    }
}
