//! The question whether a webhook or a policy is about a write.
//!
//! ```text
//!   namespace selector ─▶ object selector ─▶ excluding rules ─▶ rules ──┬─▶ matched, in the version of the request
//!                                                                        └─▶ (`Equivalent`) matched, in another version
//! ```
//! Follows `ShouldCallHook` of `k8s.io/apiserver/pkg/admission/plugin/webhook/generic/webhook.go`,
//! `pkg/admission/plugin/policy/matching/matching.go` and the predicates that both use (v0.37.1).

mod conversion;
mod exempt;
mod rule;

pub(crate) use conversion::{back, new_object, old_object};
pub(crate) use exempt::{Sight, of_policies, of_webhooks};

use super::plugins::namespace_lifecycle::missing;
use super::{Attributes, Kind, Operation};
use crate::commit::namespace::is_namespace;
use crate::error::ApiResult;
use crate::object::meta;
use crate::object::selector::LabelSelector;
use crate::registry::{Version, text};
use crate::schema::{self, TypeRef};
use rule::Rule;
use tree::Value;

/// The writes that a webhook or a policy is about.
#[derive(Debug, Clone)]
pub(crate) struct Constraints {
    /// `None` selects nothing, as it is not valid.
    namespaces: Option<LabelSelector>,
    objects: Option<LabelSelector>,
    /// The rules, one of which has to match; `None`, if everything does.
    rules: Option<Box<[Rule]>>,
    /// The rules none of which may match.
    excluded: Box<[Rule]>,
    /// Whether rules may also match the resource in another version.
    equivalent: bool,
}

/// The form in which a write is shown to a webhook or a policy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matched<'a> {
    /// The version of the resource: its group, version and name are those of the rule that matched.
    pub(crate) version: &'a Version,
    /// The kind of the object there.
    pub(crate) kind: Kind<'a>,
}

impl<'a> Matched<'a> {
    /// The type by which the objects are decoded; that of custom resources is about their metadata.
    pub(crate) fn ty(self) -> Option<TypeRef<'a>> {
        match self.has_own_kind() {
            true => Some(self.version.ty()),
            false => schema::lookup(&self.kind.api_version(), self.kind.kind),
        }
    }

    /// The Go type of the objects; `None` for custom resources.
    pub(crate) fn go_type(self) -> Option<TypeRef<'a>> {
        self.ty().filter(|_| self.is_typed())
    }

    /// Whether the objects are of a type with known fields, as the bodies of all subresources are.
    pub(crate) fn is_typed(self) -> bool {
        self.version.is_typed() || !self.has_own_kind()
    }

    /// Whether the objects are of the resource's kind, and not the bodies of a subresource with another one.
    fn has_own_kind(self) -> bool {
        self.kind == Kind::of(self.version, "")
    }

    /// An object as Go's encoder writes it.
    pub(crate) fn json(self, object: &Value) -> String {
        if object.is_null() {
            return "null".into();
        }
        let Some(ty) = self.go_type() else { return schema::encode_any(object) };
        let encoded = schema::encode_unstored(object, ty);
        let mut json = String::from_utf8(encoded.json).expect("JSON of texts is UTF-8");
        let revision = text(object, "/metadata/resourceVersion");
        if let Some(slot) = encoded.slot.filter(|_| !revision.is_empty()) {
            json.insert_str(slot.offset, &format!(",\"resourceVersion\":{}", schema::encode_any(&revision.into())));
        }
        json
    }
}

impl Constraints {
    /// The constraints of a webhook in a configuration.
    pub(crate) fn of_webhook(webhook: &Value) -> Constraints {
        Constraints::of(webhook, Some(Rule::all_of(&webhook["rules"])), Box::default())
    }

    /// The `matchResources` of a policy's binding, or the `matchConstraints` of a policy. Without rules they match everything.
    pub(crate) fn of_policy(resources: &Value) -> Constraints {
        let rules = Some(Rule::all_of(&resources["resourceRules"])).filter(|rules| !rules.is_empty());
        Constraints::of(resources, rules, Rule::all_of(&resources["excludeResourceRules"]))
    }

    fn of(value: &Value, rules: Option<Box<[Rule]>>, excluded: Box<[Rule]>) -> Constraints {
        Constraints {
            namespaces: LabelSelector::structured(&value["namespaceSelector"]),
            objects: LabelSelector::structured(&value["objectSelector"]),
            rules,
            excluded,
            equivalent: value["matchPolicy"] == "Equivalent",
        }
    }

    /// The form in which a write of that object is matched; `None` if it is not. A deletion has no object: it is null.
    ///
    /// # Errors
    /// 404, if a namespace that a selector is about does not exist.
    pub(crate) fn matched<'a>(&self, write: &Attributes<'a>, object: &Value) -> ApiResult<Option<Matched<'a>>> {
        // Of a write that the rules are not about it does not matter which labels its namespace has.
        let Some(matched) = self.by_rules(write) else { return Ok(None) };
        Ok((self.selects_object(write, object) && self.selects_namespace(write, object)?).then_some(matched))
    }

    /// Whether the rules are about a write, whatever its object is.
    pub(crate) fn concerns(&self, write: &Attributes<'_>) -> bool {
        self.by_rules(write).is_some()
    }

    fn by_rules<'a>(&self, write: &Attributes<'a>) -> Option<Matched<'a>> {
        if self.first(&self.excluded, write).is_some() {
            return None;
        }
        let version = match &self.rules {
            None => write.version,
            Some(rules) => self.first(rules, write)?,
        };
        Some(Matched { version, kind: Kind::of(version, write.subresource) })
    }

    /// The version of the resource about which the first rule is, that of the request before all others.
    fn first<'a>(&self, rules: &[Rule], write: &Attributes<'a>) -> Option<&'a Version> {
        if rules.iter().any(|rule| rule.matches(write, write.version)) {
            return Some(write.version);
        }
        let others = || {
            write.resource.versions.iter().map(|other| &**other).filter(|other| other.number != write.version.number)
        };
        let has_subresource =
            |version: &Version| write.subresource.is_empty() || version.subresource(write.subresource).is_some();
        let is_served = |version: &Version| {
            let served = write.server.registry.path(&version.group, &version.name, &version.plural);
            served.is_some_and(|served| served.resource.id == write.resource.id) && has_subresource(version)
        };
        let find = |rule: &Rule| others().find(|version| rule.matches(write, version) && is_served(version));
        rules.iter().filter(|_| self.equivalent).find_map(find)
    }

    /// Whether the labels of the object are selected, before the write or after it.
    fn selects_object(&self, write: &Attributes<'_>, object: &Value) -> bool {
        let Some(selector) = &self.objects else { return false };
        let selects = |object: &Value| !object.is_null() && selector.matches(meta::labels(object).iter());
        selector.is_empty() || selects(object) || write.old.is_some_and(selects)
    }

    /// Whether the labels of the namespace are selected. Objects in none are always, but for namespaces themselves.
    fn selects_namespace(&self, write: &Attributes<'_>, object: &Value) -> ApiResult<bool> {
        let about_namespace = is_namespace(write.resource);
        if write.namespace.is_empty() && !about_namespace {
            return Ok(true);
        }
        let Some(selector) = &self.namespaces else { return Ok(false) };
        if selector.is_empty() {
            return Ok(true);
        }
        let is_written = matches!(write.operation, Operation::Create | Operation::Update);
        if about_namespace && write.subresource.is_empty() && is_written {
            return Ok(selector.matches(meta::labels(object).iter()));
        }
        let entry = write.own_namespace().ok_or_else(|| missing(write.namespace))?;
        Ok(selector.matches(entry.meta.labels()))
    }
}
