//! The authorizer by the policies in a file, a line each.
//!
//! Ports `pkg/auth/authorizer/abac/abac.go` and `pkg/apis/abac` (v1.37.1).

use super::User;
use super::authorizer::{Attributes, Authorizer, Decision, PathRule, ResourceRule, Rules, Target};
use crate::configuration::{Strictness, Undecoded, decode, decode_or_assume};
use crate::deadline::{Deadline, Steps};
use crate::error::ApiResult;
use crate::files;
use crate::store::Store;
use crate::user::ALL_AUTHENTICATED;
use std::path::Path;
use tree::Value;

const KIND: (&str, &str) = ("abac.authorization.kubernetes.io/v1beta1", "Policy");
/// The kind of lines that do not say theirs, as it is known here.
const UNVERSIONED: (&str, &str) = ("abac.authorization.kubernetes.io/v0", "Policy");
/// The length that a line must not have, in bytes (`MaxScanTokenSize` of Go's `bufio`).
const LONGEST_LINE: usize = 64 * 1024;
/// The verbs that only read (`IsReadOnly`).
const READING: [&str; 3] = ["get", "list", "watch"];

/// A policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Policy {
    user: String,
    group: String,
    readonly: bool,
    api_group: String,
    resource: String,
    namespace: String,
    path: String,
}

/// The policies of a file, in their order.
#[derive(Debug)]
pub(crate) struct Policies(Vec<Policy>);

impl Policies {
    /// Reads a file.
    ///
    /// # Errors
    /// In upstream's words, if it cannot be read, or a line is not a policy.
    pub(crate) fn read(path: &Path) -> Result<Policies, String> {
        Policies::parse(path, &files::read_text(path)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Policies, String> {
        let mut policies = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.len() >= LONGEST_LINE {
                return Err(format!("error reading policy file {}: bufio.Scanner: token too long", path.display()));
            }
            if line.trim().is_empty() || line.trim().starts_with('#') {
                continue;
            }
            let policy = Policy::parse(line).map_err(|why| {
                format!("error reading policy file {}, line {}: {line}: {why}", path.display(), index + 1)
            });
            policies.push(policy?);
        }
        Ok(Policies(policies))
    }
}

impl Policy {
    fn parse(line: &str) -> Result<Policy, String> {
        match decode(line, &[KIND], Strictness::Lenient) {
            Ok(policy) => Ok(Policy::current(&policy["spec"])),
            Err(Undecoded::Unknown(_)) => decode_or_assume(line, &[UNVERSIONED], UNVERSIONED, Strictness::Lenient)
                .map(|policy| Policy::unversioned(&policy))
                .map_err(Undecoded::message),
            Err(Undecoded::Invalid(why)) => Err(why),
        }
    }

    fn of(fields: &Value) -> Policy {
        let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
        Policy {
            user: text("user"),
            group: text("group"),
            readonly: fields["readonly"] == true,
            api_group: text("apiGroup"),
            resource: text("resource"),
            namespace: text("namespace"),
            path: text("nonResourcePath"),
        }
    }

    /// `Convert_v1beta1_Policy_To_abac_Policy`.
    fn current(spec: &Value) -> Policy {
        Policy::of(spec).for_all_who_are_known()
    }

    /// `Convert_v0_Policy_To_abac_Policy`: what is left out stands for all.
    fn unversioned(policy: &Value) -> Policy {
        let mut policy = Policy::of(policy);
        if policy.user.is_empty() && policy.group.is_empty() {
            policy.group = ALL_AUTHENTICATED.into();
        }
        policy = policy.for_all_who_are_known();
        if policy.namespace.is_empty() && policy.resource.is_empty() {
            policy.path = "*".into();
        }
        for all in [&mut policy.namespace, &mut policy.resource] {
            if all.is_empty() {
                *all = "*".into();
            }
        }
        policy.api_group = "*".into();
        policy
    }

    /// A user or group `*` stands for all who are authenticated.
    fn for_all_who_are_known(mut self) -> Policy {
        if self.user == "*" || self.group == "*" {
            self.group = ALL_AUTHENTICATED.into();
            self.user = String::new();
        }
        self
    }

    fn is_about(&self, user: &User) -> bool {
        let is_user = self.user.is_empty() || self.user == user.name;
        let is_group = self.group.is_empty() || user.is_in(&self.group);
        !(self.user.is_empty() && self.group.is_empty()) && is_user && is_group
    }

    fn allows(&self, attributes: &Attributes<'_>) -> bool {
        let is = |own: &str, asked: &str| own == "*" || own == asked;
        let may = !self.readonly || READING.contains(&attributes.verb);
        may && self.is_about(attributes.user)
            && match attributes.target {
                Target::Resource { group, resource, namespace, .. } => {
                    is(&self.namespace, namespace) && is(&self.resource, resource) && is(&self.api_group, group)
                }
                Target::Path(path) => {
                    let begins = || self.path.ends_with('*') && path.starts_with(self.path.trim_end_matches('*'));
                    is(&self.path, path) || begins()
                }
            }
    }

    fn verbs(&self) -> Vec<String> {
        let verbs: &[&str] = if self.readonly { &READING } else { &["*"] };
        verbs.iter().map(|verb| (*verb).to_owned()).collect()
    }
}

impl Authorizer for Policies {
    fn authorize(&self, _: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        let steps = Steps::until(attributes.deadline);
        for policy in &self.0 {
            steps.step()?;
            if policy.allows(attributes) {
                return Ok(Decision::Allow(String::new()));
            }
        }
        Ok(Decision::NoOpinion("No policy matched.".into()))
    }

    fn rules(&self, _: &Store, user: &User, namespace: &str, deadline: &Deadline) -> ApiResult<Rules> {
        let (mut rules, steps) = (Rules::default(), Steps::until(deadline));
        for policy in &self.0 {
            steps.step()?;
            if !policy.is_about(user) || !["*", namespace].contains(&&*policy.namespace) {
                continue;
            }
            if !policy.resource.is_empty() {
                rules.resources.push(ResourceRule {
                    verbs: policy.verbs(),
                    api_groups: vec![policy.api_group.clone()],
                    resources: vec![policy.resource.clone()],
                    resource_names: Vec::new(),
                });
            }
            if !policy.path.is_empty() {
                rules.paths.push(PathRule { verbs: policy.verbs(), paths: vec![policy.path.clone()] });
            }
        }
        Ok(rules)
    }
}
