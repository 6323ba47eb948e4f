//! The binding of a policy: the writes and parameters that it is evaluated with, and the consequences of a failure.

use crate::admission::Attributes;
use crate::admission::matching::Constraints;
use crate::error::ApiResult;
use crate::object::meta;
use crate::object::selector::LabelSelector;
use crate::registry::{items, text};
use tree::Value;

/// A binding.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) name: String,
    /// The name of the policy.
    pub(crate) policy: String,
    /// The writes that it is about, of those that the policy is about; `None` for all.
    constraints: Option<Constraints>,
    /// The parameters of the policy.
    pub(super) reference: Option<ParamRef>,
    /// The consequences of a failure; those of policies that change objects have none.
    pub(crate) actions: Vec<Action>,
}

/// The consequence of a failed validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Deny,
    Warn,
    Audit,
}

/// `ParamRef`.
#[derive(Debug)]
pub(super) struct ParamRef {
    /// The name of the one parameter; "" for all that the selector selects.
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) selector: Option<LabelSelector>,
    /// Whether writes are refused if there are no parameters.
    pub(super) denies_absence: bool,
}

impl Action {
    /// The name in the API.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Action::Deny => "Deny",
            Action::Warn => "Warn",
            Action::Audit => "Audit",
        }
    }
}

impl Binding {
    /// Whether it is about a write of that object.
    ///
    /// # Errors
    /// 404, if a namespace that a selector is about does not exist.
    pub(crate) fn matches(&self, write: &Attributes<'_>, object: &Value) -> ApiResult<bool> {
        let matched = self.constraints.as_ref().map(|constraints| constraints.matched(write, object));
        matched.map_or(Ok(true), |matched| Ok(matched?.is_some()))
    }

    /// The binding in an object.
    pub(super) fn of(object: &Value) -> Self {
        let spec = &object["spec"];
        let action = |action: &Value| match action.as_str()? {
            "Deny" => Some(Action::Deny),
            "Warn" => Some(Action::Warn),
            "Audit" => Some(Action::Audit),
            _ => None,
        };
        Binding {
            name: meta::name(object).to_owned(),
            policy: text(spec, "/policyName").to_owned(),
            constraints: spec.get("matchResources").map(Constraints::of_policy),
            reference: spec.get("paramRef").map(|reference| ParamRef {
                name: text(reference, "/name").to_owned(),
                namespace: text(reference, "/namespace").to_owned(),
                selector: reference.get("selector").and_then(LabelSelector::structured),
                denies_absence: reference["parameterNotFoundAction"] == "Deny",
            }),
            actions: items(spec, "/validationActions").iter().filter_map(action).collect(),
        }
    }
}
