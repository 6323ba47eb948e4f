//! Attachments of volumes to nodes.
//!
//! Follows `pkg/registry/storage/volumeattachment/strategy.go`, and `ValidateVolumeAttachment` and
//! `ValidateVolumeAttachmentUpdate` of `pkg/apis/storage/validation/validation.go` (v1.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::defaults::visit;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::types::{csi_driver_name, default_volume_source, inline_persistent_volume_spec};
use crate::registry::{flag, text};
use tree::Value;

/// `maxAttachedVolumeMetadataSize`, in bytes.
const MAX_METADATA: usize = 256 * 1024;
/// `maxVolumeErrorMessageSize`, in bytes.
const MAX_MESSAGE: usize = 1024;

pub(in crate::registry) const RULES: Rules = Rules {
    delete_returns_object: true,
    status_keeps_metadata: true,
    cells: &[
        ("Attacher", |attachment, _| text(attachment, "/spec/attacher").into()),
        ("PV", |attachment, _| text(attachment, "/spec/source/persistentVolumeName").into()),
        ("Node", |attachment, _| text(attachment, "/spec/nodeName").into()),
        ("Attached", |attachment, _| flag(attachment, "/status/attached").into()),
    ],
    subresources: &[("status", Strategy { default, validate, ..Strategy::STATUS })],
    strategy: Strategy { default, validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn default(attachment: &mut Value) {
    visit(attachment, "spec/source/inlineVolumeSpec", &mut default_volume_source);
}

fn at(attachment: &Value) -> At<'static, '_> {
    At::object(attachment, "storage.k8s.io/v1", "VolumeAttachment")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let attachment = at(new);
    let spec = attachment.field("spec");
    csi_driver_name(spec.field("attacher"), errors);
    source(spec.field("source"), errors);
    spec.field("nodeName").follows(name::dns_subdomain, errors);
    status(attachment.field("status"), errors);
    let volume = spec.field("source.persistentVolumeName");
    if volume.is_set() {
        volume.follows(name::dns_subdomain, errors);
    }
    if let Some(old) = old.map(at) {
        errors.covered("immutable", |errors| spec.immutable(&old.field("spec"), errors));
    }
}

fn source(source: At<'_, '_>, errors: &mut Errors) {
    const ONE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    let (volume, inline) = (source.field("persistentVolumeName"), source.field("inlineVolumeSpec"));
    match (volume.is_set(), inline.is_set()) {
        (false, false) => source.required(ONE, errors),
        (true, true) => source.forbidden(ONE, errors),
        (true, false) if volume.is_empty() => volume.required("must specify non empty persistentVolumeName", errors),
        (true, false) => {}
        (false, true) => inline_persistent_volume_spec(inline, errors),
    }
}

fn status(status: At<'_, '_>, errors: &mut Errors) {
    let metadata = status.field("attachmentMetadata");
    let bytes: usize = metadata.texts().map(|(key, value)| key.len() + value.len()).sum();
    if bytes > MAX_METADATA {
        errors.push(FieldError::too_long(metadata.path(), MAX_METADATA));
    }
    for field in ["attachError", "detachError"] {
        let error = status.field(field);
        let (message, code) = (error.field("message"), error.field("errorCode"));
        if message.text().len() > MAX_MESSAGE {
            errors.push(FieldError::too_long(message.path(), MAX_MESSAGE));
        }
        code.between(0..=i32::MAX.into(), errors);
    }
}
