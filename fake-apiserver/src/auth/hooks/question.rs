//! `SubjectAccessReview` as a webhook is sent it, and as match conditions see it.
//!
//! Ports `resourceAttributesFrom` and `v1SpecToV1beta1Spec` of `plugin/pkg/authorizer/webhook/webhook.go`, and
//! `convertObjectToUnstructured` of `pkg/authorization/cel/compile.go`, of `k8s.io/apiserver` (v0.37.1).

use crate::auth::authorizer::{Attributes, Target};
use crate::auth::requested::Requirement;
use crate::schema::{TypeRef, encode_any, encode_part, lookup};
use crate::user::User;
use tree::{Map, Value, json};

/// The selectors of a request, which take their time to read.
pub(super) struct Question<'a> {
    attributes: &'a Attributes<'a>,
    fields: Vec<Requirement>,
    labels: Vec<Requirement>,
}

impl<'a> Question<'a> {
    pub(super) fn of(attributes: &'a Attributes<'a>) -> Question<'a> {
        let selectors = attributes.selectors;
        Question { attributes, fields: selectors.fields(), labels: selectors.labels() }
    }

    /// The `spec`, as JSON, with that name of the field with the groups.
    pub(super) fn spec(&self, groups: &str) -> String {
        let user = self.attributes.user;
        let mut members = Vec::new();
        match self.attributes.target {
            Target::Path(path) => {
                let asked = non_empty([("path", path), ("verb", self.attributes.verb)]);
                members.push(("nonResourceAttributes", encode_part(&asked, part("nonResourceAttributes"))));
            }
            Target::Resource { .. } => {
                let mut asked = non_empty(self.resource());
                for (name, requirements) in [("fieldSelector", &self.fields), ("labelSelector", &self.labels)] {
                    if !requirements.is_empty() {
                        asked[name] = json!({"requirements": listed(requirements)});
                    }
                }
                members.push(("resourceAttributes", encode_part(&asked, part("resourceAttributes"))));
            }
        }
        if !user.name.is_empty() {
            members.push(("user", encode_any(&user.name.as_str().into())));
        }
        if !user.groups.is_empty() {
            members.push((groups, encode_any(&user.groups.as_slice().into())));
        }
        if !user.extra.is_empty() {
            members.push(("extra", encode_any(&extra(user))));
        }
        if !user.uid.is_empty() {
            members.push(("uid", encode_any(&user.uid.as_str().into())));
        }
        let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    }

    /// The `spec` as match conditions see it, with its empty texts.
    pub(super) fn seen(&self) -> Value {
        let user = self.attributes.user;
        let mut seen = json!({
            "user": &*user.name, "groups": user.groups.as_slice(), "uid": &*user.uid, "extra": extra(user),
        });
        match self.attributes.target {
            Target::Path(path) => seen["nonResourceAttributes"] = json!({"path": path, "verb": self.attributes.verb}),
            Target::Resource { .. } => {
                let mut asked =
                    Value::Object(self.resource().into_iter().map(|(name, text)| (name, text.into())).collect());
                for (name, requirements) in [("fieldSelector", &self.fields), ("labelSelector", &self.labels)] {
                    if !requirements.is_empty() {
                        let all = requirements.iter().map(
                            |one| json!({"key": &*one.key, "operator": one.operator, "values": one.values.as_slice()}),
                        );
                        asked[name] = json!({"requirements": all.collect::<Vec<Value>>()});
                    }
                }
                seen["resourceAttributes"] = asked;
            }
        }
        seen
    }

    /// Whether the answer may be kept: a request of which much is made up may be one of many (`shouldCache`).
    pub(super) fn is_short(&self) -> bool {
        const LONGEST: usize = 10_000;
        let path = match self.attributes.target {
            Target::Path(path) => path.len() + self.attributes.verb.len(),
            Target::Resource { .. } => self.resource().iter().map(|(_, text)| text.len()).sum(),
        };
        path < LONGEST
    }

    fn resource(&self) -> [(&'static str, &'a str); 7] {
        match self.attributes.target {
            Target::Path(_) => {
                ["namespace", "verb", "group", "version", "resource", "subresource", "name"].map(|name| (name, ""))
            }
            Target::Resource { group, version, resource, subresource, namespace, name } => [
                ("namespace", namespace),
                ("verb", self.attributes.verb),
                ("group", group),
                ("version", version),
                ("resource", resource),
                ("subresource", subresource),
                ("name", name),
            ],
        }
    }
}

fn non_empty<const N: usize>(texts: [(&str, &str); N]) -> Value {
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    Value::Object(texts.map(|(name, text)| (name, Value::from(text))).collect::<Map>())
}

fn listed(requirements: &[Requirement]) -> Value {
    let item = |one: &Requirement| match one.values.is_empty() {
        true => json!({"key": &*one.key, "operator": one.operator}),
        false => json!({"key": &*one.key, "operator": one.operator, "values": one.values.as_slice()}),
    };
    Value::Array(requirements.iter().map(item).collect())
}

fn extra(user: &User) -> Value {
    user.extra.iter().map(|(key, values)| (key.as_str(), Value::from(values.as_slice()))).collect()
}

/// The type of a part of the `spec`.
fn part(name: &str) -> TypeRef<'static> {
    let below = |ty: TypeRef<'static>, name| ty.field(name).map(|field| ty.of(field).target());
    let spec = lookup("authorization.k8s.io/v1", "SubjectAccessReview").and_then(|review| below(review, "spec"));
    spec.and_then(|spec| below(spec, name)).expect("the schema has reviews")
}
