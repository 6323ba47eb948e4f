//! All policies of a kind with their bindings, kept up to date from the store.
//!
//! Follows `pkg/admission/plugin/policy/generic/{policy_source,policy_matcher}.go` of `k8s.io/apiserver` (v0.37.1).

use super::binding::Binding;
use super::parameters::served;
use super::policy::{Compile, Policy};
use crate::admission::manifests::{Folder, FromManifests, Manifest};
use crate::admission::matching::Matched;
use crate::admission::{Attributes, Config, Following, Generation, PluginError};
use crate::configuration::Strictness;
use crate::error::{ApiError, ApiResult};
use crate::index::{Index, Place};
use crate::object::meta;
use crate::registry::text;
use crate::store::{Entry, Key, ResourceId};
use imbl::OrdMap;
use std::sync::Arc;
use tree::Value;

/// The kinds of the configurations of both plugins.
const KINDS: [(&str, &str); 2] = [
    ("apiserver.config.k8s.io/v1", "MutatingAdmissionPolicyConfiguration"),
    ("apiserver.config.k8s.io/v1", "ValidatingAdmissionPolicyConfiguration"),
];

/// The policies of a kind and their bindings.
#[derive(Debug)]
pub(crate) struct Policies<C> {
    policies: OrdMap<Arc<str>, Arc<Policy<C>>>,
    bindings: OrdMap<Arc<str>, Arc<Binding>>,
    /// The bindings of each policy, by name.
    bound: OrdMap<Arc<str>, OrdMap<Arc<str>, Arc<Binding>>>,
}

/// A policy that is about a write, with its bindings.
pub(crate) struct Hook<'w, C> {
    pub(crate) policy: Arc<Policy<C>>,
    pub(crate) bindings: Vec<Arc<Binding>>,
    /// The form in which the policy sees the write, or the reason why that is not known.
    matched: Result<Matched<'w>, ApiError>,
}

impl<'w, C> Hook<'w, C> {
    /// The form in which the policy sees the write.
    ///
    /// # Errors
    /// The reason why the policy cannot be evaluated, whatever its bindings are.
    pub(crate) fn configuration(&self, write: &Attributes<'w>) -> Result<Matched<'w>, String> {
        let matched = self.matched.as_ref().map_err(ApiError::to_string)?;
        if let Some(kind) = &self.policy.param_kind {
            served(write, kind)?;
        }
        Ok(*matched)
    }
}

impl<C> Clone for Policies<C> {
    fn clone(&self) -> Self {
        let Policies { policies, bindings, bound } = self;
        Policies { policies: policies.clone(), bindings: bindings.clone(), bound: bound.clone() }
    }
}

impl<C> Default for Policies<C> {
    fn default() -> Self {
        Policies { policies: OrdMap::new(), bindings: OrdMap::new(), bound: OrdMap::new() }
    }
}

impl<C: Compile> Policies<C> {
    /// The stored policies, and those in the folder that the configuration of the plugin names.
    ///
    /// # Errors
    /// If the configuration is wrong, or a manifest is.
    pub(crate) fn configured(plugin: &'static str, config: &Config) -> Result<Following<Policies<C>>, PluginError> {
        let own = config.decoded(plugin, &KINDS, Strictness::Strict)?;
        let kind = own.as_ref().map_or("", |own| text(own, "/kind"));
        if own.is_some() && kind.strip_suffix("Configuration") != Some(plugin) {
            return Err(PluginError::not_made(plugin, format!("unexpected type: *policyconfig.{kind}")));
        }
        let folder = own.as_ref().map_or("", |own| text(own, "/staticManifestsDir"));
        Ok(Following::new(Folder::named(folder, plugin, config)?))
    }

    /// The policies with bindings whose constraints match a write of that object: those of the first, then those of the second ones.
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(crate) fn matching<'w>(
        all: &[&Policies<C>],
        write: &Attributes<'w>,
        object: &Value,
    ) -> ApiResult<Vec<Hook<'w, C>>> {
        let hook = |policy: &Arc<Policy<C>>, bindings: &OrdMap<Arc<str>, Arc<Binding>>| {
            let matched = match &policy.constraints {
                Some(constraints) => constraints.matched(write, object).transpose()?,
                None => Err(ApiError::untyped("policy contained no match constraints, a required field")),
            };
            let bindings = bindings.values().cloned().collect();
            Some(Hook { policy: policy.clone(), bindings, matched })
        };
        let mut matching = Vec::new();
        for own in all {
            for (name, bindings) in &own.bound {
                write.deadline.check()?;
                matching.extend(own.policies.get(name).and_then(|policy| hook(policy, bindings)));
            }
        }
        Ok(matching)
    }

    fn put_policy(&mut self, name: Arc<str>, object: Value) {
        let generation = Generation::of(&object);
        if self.policies.get(&name).is_none_or(|known| known.generation != generation) {
            self.policies.insert(name, Arc::new(Policy::of(object, generation)));
        }
    }

    fn bind(&mut self, name: Arc<str>, object: &Value) {
        self.unbind(&name);
        let binding = Arc::new(Binding::of(object));
        self.bound.entry(binding.policy.as_str().into()).or_default().insert(name.clone(), binding.clone());
        self.bindings.insert(name, binding);
    }

    fn unbind(&mut self, name: &str) {
        let Some(binding) = self.bindings.remove(name) else { return };
        let policy = binding.policy.as_str();
        if let Some(bound) = self.bound.get_mut(policy) {
            bound.remove(name);
            if bound.is_empty() {
                self.bound.remove(policy);
            }
        }
    }
}

impl<C: Compile> FromManifests for Policies<C> {
    fn of(manifests: Vec<Manifest>) -> Self {
        let mut all = Policies::default();
        for Manifest { kind, object } in manifests {
            let name = meta::name(&object).into();
            match kind == C::POLICIES {
                true => all.put_policy(name, object),
                false => all.bind(name, &object),
            }
        }
        all
    }
}

impl<C: Compile> Index for Policies<C> {
    const PLACE: Place = C::PLACE;
    const RESOURCES: &'static [ResourceId] = &[C::POLICIES, C::BINDINGS];

    fn apply(&mut self, entry: &Entry) {
        let name: Arc<str> = entry.key.name().into();
        match entry.key.resource == C::POLICIES {
            true => self.put_policy(name, entry.object()),
            false => self.bind(name, &entry.object()),
        }
    }

    fn delete(&mut self, key: &Key) {
        match key.resource == C::POLICIES {
            true => drop(self.policies.remove(key.name())),
            false => self.unbind(key.name()),
        }
    }
}
