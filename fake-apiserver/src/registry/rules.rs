//! The rules of a kind: its parts in upstream's Go code, which the real server's answers do not show. The rest is in the
//! [record](super::record).

use super::context::Context;
use super::subresources::{Handler, Review};
use crate::error::Errors;
use crate::measures::Measures;
use crate::object::meta;
use crate::store::Digest;
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
    /// Lists, by JSON pointers, that mean something else if they are there and empty; decoding drops others.
    pub empty_lists: &'static [&'static str],
    /// `metadata.generation` counts changes of the spec.
    pub owns_generation: bool,
    /// `metadata.generation` counts changes of annotations, too.
    pub annotations_count: bool,
    /// `metadata.generation` counts changes of labels, too.
    pub labels_count: bool,
    /// `metadata.generation` begins with the number that was sent.
    pub keeps_generation: bool,
    /// The metadata of a new object is validated only if nothing else is wrong: the kind leaves that to what all creates do.
    pub metadata_last: bool,
    /// An object without a name gets a uid as one.
    pub named_by_uid: bool,
    /// An update of a missing object creates it (`AllowCreateOnUpdate`).
    pub create_on_update: bool,
    /// A delete that removes the object answers with it rather than with a `Status` (`ReturnDeletedObject`).
    pub delete_returns_object: bool,
    /// A delete without a propagation policy orphans dependents (`DefaultGarbageCollectionPolicy`).
    pub orphans_dependents: bool,
    /// The warning about such a delete.
    pub delete_warning: Option<&'static str>,
    /// A delete ignores propagation policies, as its objects have no dependents (`rest.Unsupported`).
    pub ignores_propagation: bool,
    /// Names of objects that are not deleted by their names, with the reason (`REST.Delete`).
    pub(crate) undeletable: &'static [(&'static str, &'static str)],
    /// The first step of a deletion, where it is not that of most kinds.
    pub(crate) closes: Option<Closes>,
    /// Whether an object is stored without values with which it is read, so that the next update always changes it; given the object
    /// and the one that it replaces.
    pub lacks_defaults: fn(&Value, Option<&Value>) -> bool,
    /// The generation counts lists and maps that are sent empty, though they are stored as absent ones (`reflect.DeepEqual`).
    pub counts_empties: bool,
    /// A create keeps the status that was sent.
    pub keeps_status: bool,
    /// A write of the status leaves the metadata (`ResetObjectMetaForStatus`).
    pub status_keeps_metadata: bool,
    /// The status is in no table, as the object is.
    pub(crate) plain_status: bool,
    /// The fields that writes through the resource ("") or a subresource reset, so that they cannot own them (`GetResetFields`),
    /// where they are not those of most kinds.
    pub(super) resets: &'static [(&'static str, &'static [&'static [&'static str]])],
    /// The allocator of addresses and ports for its objects, which runs before they are prepared (`BeginCreate`, `BeginUpdate`).
    pub(crate) allocates: Option<Allocator>,
    /// The count of a change that is stored, given the new object and the old one.
    pub(crate) counts: Option<fn(&Measures, &Value, &Value)>,
    /// The way its objects grant permissions, which a user who writes them must have.
    pub(crate) grants: Option<Grants>,
    /// The digest of its objects, for those who would otherwise parse them.
    pub(crate) digest: Option<fn(&Value) -> Digest>,
    /// The form in which upstream stores objects, which decides on how large they may be.
    pub(crate) stored_as: Encoding,
    /// The way requests are served.
    pub(crate) handler: Handler,
    /// The warning about all requests (`APILifecycleDeprecated`).
    pub(super) deprecation: Option<&'static str>,
    /// Strategy of writes.
    pub strategy: Strategy,
    /// The served subresources, with the strategy of writes through them.
    pub(super) subresources: &'static [(&'static str, Strategy)],
    /// The texts of fields for selectors, where they are not the text in the field of that name.
    pub(super) fields: &'static [(&'static str, FieldText)],
    /// The message about a label of field selectors that the kind does not have, given the `apiVersion` and the label, where it has labels of
    /// its own (`AddFieldLabelConversionFunc`).
    pub(super) unknown_label: fn(&str, &str) -> String,
    /// The cells of columns, by heading, but for those of all kinds.
    pub(super) cells: &'static [(&'static str, Cell)],
    /// The cells of a row beyond those of its columns.
    pub(super) more_cells: &'static [Cell],
    /// The condition of an object's row in a table.
    pub(super) row_condition: fn(&Value) -> Option<RowCondition>,
    /// The number by which the rows of a table are sorted, if they are not in the order of the list.
    pub(super) row_order: Option<fn(&Value) -> i64>,
    /// Versions by which the same objects are served besides the one that is stored.
    pub(super) versions: &'static [VersionRules],
    /// Versions by which they are served, too, if the server is asked for them.
    pub(super) optional: &'static [VersionRules],
}

/// The allocators of addresses, ports and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allocator {
    /// Cluster IPs and node ports.
    Service,
}

/// Kinds whose objects are closed first: other objects belong to them, and are deleted before they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closes {
    Namespace,
    Definition,
}

/// The ways in which objects grant permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grants {
    /// By their rules.
    Rules,
    /// By the role that they bind to subjects.
    Role,
}

/// The forms of objects in etcd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Protobuf in upstream's envelope.
    Protobuf,
    /// JSON and a line feed.
    Json,
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
    /// Findings about an object of the storage version that came in this one, where they are others.
    pub(super) validate: Option<Validate>,
    /// Sets the defaults of an object of the storage version that came in this one, where they are others.
    pub(super) default: Option<fn(&mut Value)>,
    /// A delete that removes the object answers with it, also if it does not in the storage version.
    pub(super) delete_returns_object: bool,
    /// The releases since which the version is deprecated, and from which it is gone.
    pub(super) deprecated: Option<(&'static str, &'static str)>,
    /// The path that a field has in the storage version, where it is another one (`NormalizationRules`).
    pub(super) path_in_storage: fn(&str) -> Option<String>,
}

impl VersionRules {
    /// A version in which objects have the fields of the storage version.
    pub(super) const fn same(group: &'static str, version: &'static str) -> VersionRules {
        VersionRules {
            group,
            version,
            conversion: Functions { to_storage: |_| {}, from_storage: |_| {} },
            validate: None,
            default: None,
            delete_returns_object: false,
            deprecated: None,
            path_in_storage: |_| None,
        }
    }
}

/// The two directions of a conversion. They leave `apiVersion` alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Functions {
    /// From a version to the storage version.
    pub(crate) to_storage: fn(&mut Value),
    /// From the storage version to a version.
    pub(crate) from_storage: fn(&mut Value),
}

/// A rule that changes an object before it is validated; arguments: the write, the new object, the old one unless it is created.
pub type Prepare = fn(&Context<'_>, &mut Value, Option<&Value>);

/// A rule that finds errors in an object; arguments: the write, the new object, the old one unless it is created.
pub type Validate = fn(&Context<'_>, &Value, Option<&Value>, &mut Errors);

/// A rule that warns about an object; arguments: the write, the new object, the old one unless it is created.
pub type Warnings = fn(&Context<'_>, &Value, Option<&Value>) -> Vec<String>;

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
    /// Fills in the present time where it is the default.
    pub default_times: fn(&mut Value, Timestamp),
    /// Resets and fills in fields that clients do not set (`PrepareForCreate`, `PrepareForUpdate`). Name and system metadata
    /// are set by then, and the status is as the pipeline leaves it.
    pub prepare: Prepare,
    /// Findings about the object and its change (`Validate`, `ValidateUpdate`), metadata excepted.
    pub validate: Validate,
    /// Seconds that a deletion leaves the object, given those asked for; `None` where deletion is never graceful
    /// (`CheckGracefulDelete`).
    pub grace_period: fn(&Value, Option<i64>) -> Option<i64>,
    /// Warnings about a new object before it is prepared, which are sent even if it is refused.
    pub early_warnings: fn(&Value) -> Vec<String>,
    /// Warnings about an accepted object (`WarningsOnCreate`, `WarningsOnUpdate`).
    pub warnings: Warnings,
}

impl Strategy {
    /// The strategy of a status whose writes leave the metadata.
    pub(super) const STATUS: Strategy = Strategy {
        prepare: |_, new, old| old.into_iter().for_each(|old| meta::keep_all_but_managers(new, old)),
        ..Strategy::NONE
    };

    /// No rules of its own.
    pub const NONE: Strategy = Strategy {
        default: |_| {},
        default_times: |_, _| {},
        prepare: |_, _, _| {},
        validate: |_, _, _, _| {},
        grace_period: |_, _| None,
        early_warnings: |_| Vec::new(),
        warnings: |_, _, _| Vec::new(),
    };
}

impl Rules {
    /// The rules of most kinds.
    pub(super) const ORDINARY: Rules = Rules {
        name_rule: NameRule::Subdomain,
        qualified_finalizers: true,
        empty_lists: &["/metadata/managedFields"],
        owns_generation: false,
        annotations_count: false,
        labels_count: false,
        keeps_generation: false,
        metadata_last: false,
        named_by_uid: false,
        create_on_update: false,
        delete_returns_object: false,
        orphans_dependents: false,
        ignores_propagation: false,
        delete_warning: None,
        undeletable: &[],
        closes: None,
        lacks_defaults: |_, _| false,
        counts_empties: false,
        keeps_status: false,
        status_keeps_metadata: false,
        plain_status: false,
        resets: &[],
        allocates: None,
        counts: None,
        grants: None,
        digest: None,
        stored_as: Encoding::Protobuf,
        handler: Handler::Objects,
        deprecation: None,
        strategy: Strategy::NONE,
        subresources: &[],
        fields: &[],
        unknown_label: |_, label| format!("field label not supported: {label}"),
        cells: &[],
        more_cells: &[],
        row_condition: |_| None,
        row_order: None,
        versions: &[],
        optional: &[],
    };

    /// The strategy of a subresource, if it is served. The status has an ordinary one where there is no other.
    pub(super) fn subresource(&self, name: &str) -> Option<Strategy> {
        let status = match self.status_keeps_metadata {
            true => Strategy::STATUS,
            false => Strategy::NONE,
        };
        find(self.subresources, name).or_else(|| (name == "status").then_some(status))
    }

    /// The rules of a kind of questions.
    pub(super) const fn review(review: Review) -> Rules {
        Rules { handler: Handler::Review(review), ..Rules::ORDINARY }
    }
}

/// The value in the table under that name.
pub(super) fn find<T: Clone>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone())
}
