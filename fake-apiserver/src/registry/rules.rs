//! The rules of a kind: its parts in upstream's Go code, which the real server's answers do not show. The rest is in the
//! [record](super::record).

use super::conversion::Functions;
use crate::error::FieldError;
use jiff::Timestamp;
use std::borrow::Cow;
use tree::Value;

pub(crate) use crate::object::validate::NameRule;

/// The rules of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Rule for names.
    pub name_rule: NameRule,
    /// Whether finalizers must be standard or carry a domain.
    pub qualified_finalizers: bool,
    /// `metadata.generation` counts changes of the spec.
    pub owns_generation: bool,
    /// `metadata.generation` counts changes of annotations, too.
    pub annotations_count: bool,
    /// An update without a resourceVersion overwrites (`AllowUnconditionalUpdate`).
    pub unconditional_update: bool,
    /// An update of a missing object creates it (`AllowCreateOnUpdate`).
    pub create_on_update: bool,
    /// A delete that removes the object answers with it rather than with a `Status` (`ReturnDeletedObject`).
    pub delete_returns_object: bool,
    /// Objects are questions, answered on creation and not stored.
    pub is_review: bool,
    /// Strategy of writes.
    pub strategy: Strategy,
    /// The served subresources, with the strategy of writes through them.
    pub(super) subresources: &'static [(&'static str, Strategy)],
    /// The texts of fields for selectors, where they are not the text in the field of that name.
    pub(super) fields: &'static [(&'static str, FieldText)],
    /// The cells of columns, by heading, but for those of all kinds.
    pub(super) cells: &'static [(&'static str, Cell)],
    /// The condition of an object's row in a table.
    pub(super) row_condition: fn(&Value) -> Option<RowCondition>,
    /// Versions by which the same objects are served besides the one that is stored.
    pub(super) versions: &'static [VersionRules],
}

/// The rules of a version that is not the stored one.
#[derive(Debug, Clone, Copy)]
pub(super) struct VersionRules {
    /// API group, empty for core.
    pub(super) group: &'static str,
    /// API version, such as `v1`.
    pub(super) version: &'static str,
    /// The conversion of objects.
    pub(super) conversion: Functions,
    /// Findings about an object of the storage version that came in this one.
    pub(super) validate: Validate,
}

/// Findings about an object; arguments: new, old unless created.
pub(super) type Validate = fn(&Value, Option<&Value>) -> Vec<FieldError>;

/// The text by which an object is selected.
pub(super) type FieldText = for<'a> fn(&'a Value) -> Cow<'a, str>;

/// The cell of an object in a table, at a time (for ages).
pub(super) type Cell = fn(&Value, Timestamp) -> Value;

/// `metav1.TableRowCondition`: marks rows of objects that are completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct RowCondition {
    /// The type of the condition: `Completed`.
    #[serde(rename = "type")]
    pub type_: &'static str,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// The reason, in one word.
    pub reason: &'static str,
    /// The message, a sentence.
    pub message: &'static str,
}

/// The strategy of writes of a kind: defaults, resets and validation. By default every member does nothing.
#[derive(Debug, Clone, Copy)]
pub struct Strategy {
    /// Fills in defaults, on create, update and patch (`SetDefaults_*` upstream).
    pub default: fn(&mut Value),
    /// Resets what a client cannot set at creation (`PrepareForCreate`); name and system metadata are set by then.
    pub prepare_create: fn(&mut Value),
    /// Carries over what a client cannot change (`PrepareForUpdate`); arguments: new, old.
    pub prepare_update: fn(&mut Value, &Value),
    /// Findings about an object by itself (`Validate`), metadata excepted.
    pub validate: fn(&Value) -> Vec<FieldError>,
    /// Findings about a change (`ValidateUpdate`), metadata excepted, `validate`'s included; arguments: new, old.
    pub validate_update: fn(&Value, &Value) -> Vec<FieldError>,
    /// Seconds that a deletion leaves the object, given those asked for; `None` where deletion is never graceful
    /// (`CheckGracefulDelete`).
    pub grace_period: fn(&Value, Option<i64>) -> Option<i64>,
    /// Warnings about an accepted object; arguments: new, old unless created.
    pub warnings: fn(&Value, Option<&Value>) -> Vec<String>,
}

impl Strategy {
    /// No rules of its own.
    pub const NONE: Strategy = Strategy {
        default: |_| {},
        prepare_create: |_| {},
        prepare_update: |_, _| {},
        validate: |_| Vec::new(),
        validate_update: |_, _| Vec::new(),
        grace_period: |_, _| None,
        warnings: |_, _| Vec::new(),
    };
}

impl Rules {
    /// The rules of most kinds.
    pub(super) const ORDINARY: Rules = Rules {
        name_rule: NameRule::Subdomain,
        qualified_finalizers: true,
        owns_generation: false,
        annotations_count: false,
        unconditional_update: true,
        create_on_update: false,
        delete_returns_object: false,
        is_review: false,
        strategy: Strategy::NONE,
        subresources: &[],
        fields: &[],
        cells: &[],
        row_condition: |_| None,
        versions: &[],
    };

    /// The rules of reviews.
    pub(super) const REVIEW: Rules = Rules { is_review: true, ..Rules::ORDINARY };
}
