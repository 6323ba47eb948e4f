//! The plugins `DefaultStorageClass` and `DefaultIngressClass`: a new claim or ingress that names no class gets the one that is marked
//! as the default, the newest of several.
//!
//! Follows `plugin/pkg/admission/storage/storageclass/setdefault/admission.go`, `pkg/volume/util/storageclass.go` and
//! `plugin/pkg/admission/network/defaultingressclass/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::{CLASS_ANNOTATION, child, ids};
use crate::store::{ResourceId, Scope};
use std::cmp::Reverse;
use tree::Value;

/// A plugin that fills in the default class of a kind.
pub(super) struct DefaultClass {
    /// The kind whose objects have classes.
    of: ResourceId,
    /// The field of the spec that names the class.
    field: &'static str,
    /// The annotation that named it before.
    annotation: &'static str,
    /// The kind of the classes.
    classes: ResourceId,
    /// The annotations that mark the default.
    marks: &'static [&'static str],
}

/// The plugin `DefaultStorageClass`.
pub(super) const STORAGE: DefaultClass = DefaultClass {
    of: ids::PERSISTENT_VOLUME_CLAIMS,
    field: "storageClassName",
    annotation: CLASS_ANNOTATION,
    classes: ids::STORAGE_CLASSES,
    marks: &["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
};

/// The plugin `DefaultIngressClass`.
pub(super) const INGRESS: DefaultClass = DefaultClass {
    of: ids::INGRESSES,
    field: "ingressClassName",
    annotation: "kubernetes.io/ingress.class",
    classes: ids::INGRESS_CLASSES,
    marks: &["ingressclass.kubernetes.io/is-default-class"],
};

impl Immediate for DefaultClass {
    fn admit(&self, attributes: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        let is_new = attributes.operation == Operation::Create && attributes.subresource.is_empty();
        let has_class =
            || object["spec"].get(self.field).is_some() || meta::annotations(object).get(self.annotation).is_some();
        if attributes.resource.id == self.of
            && is_new
            && !has_class()
            && let Some(name) = self.default(attributes)
        {
            child(object, "spec")[self.field] = name.into();
        }
        Ok(())
    }
}

impl DefaultClass {
    /// The name of the default class, as the replica's informers know it.
    fn default(&self, attributes: &Attributes<'_>) -> Option<String> {
        let snapshot = attributes.server.view.snapshot(attributes.server.store);
        let all = Scope::all(self.classes);
        let classes = snapshot.range(&all, "").map(|entry| entry.object());
        let is_default = |class: &Value| {
            let annotations = meta::annotations(class);
            self.marks.iter().any(|mark| annotations.get(mark) == Some("true"))
        };
        let age = |class: &Value| {
            let created = meta::creation_timestamp(class).to_owned();
            (Reverse(created), meta::name(class).to_owned())
        };
        classes.filter(is_default).map(|class| age(&class)).min().map(|(_, name)| name)
    }
}
