//! `PersistentVolumeSource`: the storage behind a persistent volume.
//!
//! Follows the validation of sources in `ValidatePersistentVolumeSpec` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::csi_driver_name::csi_driver_name;
use super::volume::no_backsteps;
use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;
use tree::Value;

/// The rules of a source.
type Rule = fn(At<'_, '_>, &mut Errors);

/// The sources in upstream's order: the field, the fields that must be set, and the other rules.
const SOURCES: [(&str, &[&str], Rule); 22] = [
    ("hostPath", &["path"], host_path),
    ("gcePersistentDisk", &["pdName"], partition),
    ("awsElasticBlockStore", &["volumeID"], partition),
    ("glusterfs", &["endpoints", "path"], glusterfs),
    ("flocker", &[], flocker),
    ("nfs", &["server", "path"], nfs),
    ("rbd", &["monitors", "image"], |_, _| {}),
    ("quobyte", &[], quobyte),
    ("cephfs", &["monitors"], |_, _| {}),
    ("iscsi", &["targetPortal", "iqn"], iscsi),
    ("cinder", &["volumeID"], |cinder, errors| secret(cinder.field("secretRef"), errors)),
    ("fc", &[], fibre_channel),
    ("flexVolume", &["driver"], flex_volume),
    ("azureFile", &["secretName", "shareName"], azure_file),
    ("vsphereVolume", &["volumePath"], |_, _| {}),
    ("photonPersistentDisk", &["pdID"], |_, _| {}),
    ("portworxVolume", &["volumeID"], |_, _| {}),
    ("azureDisk", &["diskName", "diskURI"], azure_disk),
    ("scaleIO", &["gateway", "system", "volumeName"], |_, _| {}),
    ("local", &["path"], |local, errors| no_backsteps(local.field("path"), errors)),
    ("storageos", &["volumeName"], storage_os),
    ("csi", &[], csi),
];

/// Fields that messages name otherwise: where a source is one too many, and where it breaks a rule.
const RENAMED: [(&str, &str, &str); 2] =
    [("gcePersistentDisk", "gcePersistentDisk", "persistentDisk"), ("cephfs", "cephFS", "cephfs")];

/// The fields of the spec that are sources.
pub(in crate::registry) fn persistent_volume_sources() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().map(|(field, ..)| *field)
}

/// Rules for the sources in the spec of a volume of that name; only the first counts.
pub(super) fn persistent_volume_source(spec: At<'_, '_>, volume: &str, errors: &mut Errors) {
    let present = SOURCES.iter().filter(|(field, ..)| spec.field(field).is_set());
    let present: Vec<_> = present.collect();
    for (index, (field, required, rule)) in present.iter().enumerate() {
        let renamed = RENAMED.iter().find(|(own, ..)| own == field);
        let (extra, shown) = renamed.map_or((*field, *field), |(_, extra, shown)| (*extra, *shown));
        // Upstream forgets that there may be one of these already.
        if index > 0 && *field != "flexVolume" {
            errors.forbidden(spec.path().child(extra), "may not specify more than 1 volume type");
            continue;
        }
        let at = spec.path();
        let source = spec.field(field).shown_at(at.child(shown));
        required.iter().for_each(|field| source.field(field).set(errors));
        rule(source, errors);
        if *field == "iscsi" {
            initiator(source, volume, errors);
        }
    }
    if present.is_empty() {
        spec.required("must specify a volume type", errors);
    }
}

fn host_path(source: At<'_, '_>, errors: &mut Errors) {
    const TYPES: [&str; 8] =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    let (path, type_) = (source.field("path"), source.field("type"));
    if !path.is_empty() {
        no_backsteps(path, errors);
        type_.supported(&TYPES, errors);
    }
}

fn partition(source: At<'_, '_>, errors: &mut Errors) {
    let partition = source.field("partition");
    if partition.number().is_some_and(|number| !(0..=255).contains(&number)) {
        partition.invalid("must be between 1 and 255, inclusive", errors);
    }
}

fn glusterfs(source: At<'_, '_>, errors: &mut Errors) {
    let namespace = source.field("endpointsNamespace");
    match (namespace.is_set(), namespace.text()) {
        (true, "") => namespace.invalid("if the endpointnamespace is set, it must be a valid namespace name", errors),
        _ => namespace.optional(name::dns_label, errors),
    }
}

fn flocker(source: At<'_, '_>, errors: &mut Errors) {
    let name = source.field("datasetName");
    match (name.is_empty(), source.field("datasetUUID").is_empty()) {
        (true, true) => source.required("one of datasetName and datasetUUID is required", errors),
        (false, false) => {
            source.invalid_value("resource", "datasetName and datasetUUID can not be specified simultaneously", errors);
        }
        _ => {}
    }
    if name.text().contains('/') {
        name.invalid("must not contain '/'", errors);
    }
}

fn nfs(source: At<'_, '_>, errors: &mut Errors) {
    let path = source.field("path");
    if !path.text().starts_with('/') {
        path.invalid("must be an absolute path", errors);
    }
}

fn quobyte(source: At<'_, '_>, errors: &mut Errors) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let (registry, tenant) = (source.field("registry"), source.field("tenant"));
    if registry.is_empty() {
        registry.required(PAIRS, errors);
    } else if tenant.text().len() >= 65 {
        tenant.required("must be a UUID and may not exceed a length of 64 characters", errors);
    } else {
        for _ in registry.text().split(',').filter(|pair| !has_port(pair)) {
            registry.invalid(PAIRS, errors);
        }
    }
    source.field("volume").set(errors);
}

/// Whether a text is a host and a port (`net.SplitHostPort`).
fn has_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else { return false };
    let (host, bracketed) = match host.strip_prefix('[') {
        None => (host, false),
        Some(host) => match host.strip_suffix(']') {
            Some(host) => (host, true),
            None => return false,
        },
    };
    let brackets = ['[', ']'];
    !host.contains(brackets) && !port.contains(brackets) && (bracketed || !host.contains(':'))
}

fn iscsi(source: At<'_, '_>, errors: &mut Errors) {
    let iqn = source.field("iqn");
    if !iqn.is_empty() && !is_initiator(iqn.text()) {
        iqn.invalid("must be valid format", errors);
    }
    source.field("lun").between(0..=255, errors);
    let secret = source.field("secretRef");
    let authenticates = ["chapAuthDiscovery", "chapAuthSession"].iter().any(|field| source.field(field).flag());
    if authenticates && !secret.is_set() {
        secret.required("", errors);
    }
    if secret.is_set() {
        secret.field("name").set(errors);
    }
}

/// The rules for the initiator of an iSCSI volume, in whose messages names are in lower case.
fn initiator(source: At<'_, '_>, volume: &str, errors: &mut Errors) {
    let initiator = source.field("initiatorName");
    if !initiator.is_set() {
        return;
    }
    let (at, portal) = (source.path(), source.field("targetPortal"));
    if volume.len() + ":".len() + portal.text().len() > 64 {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
            iscsi.initiatorName is specified.";
        portal.shown_at(at.child("targetportal")).invalid(detail, errors);
    }
    let initiator = initiator.shown_at(at.child("initiatorname"));
    let known = ["iqn", "eui", "naa"].iter().any(|prefix| initiator.text().starts_with(prefix));
    match known {
        false => initiator.invalid("must be valid format starting with iqn, eui, or naa", errors),
        true if !is_initiator(initiator.text()) => initiator.invalid("must be valid format", errors),
        true => {}
    }
}

/// Whether a text names an initiator in one of the three formats (`iscsiInitiatorIqnRegex` and the others).
fn is_initiator(text: &str) -> bool {
    let alphanumeric = |text: &str, length| {
        let mut rest = text.chars();
        let any = rest.next().is_some_and(|any| any != '\n');
        let rest = rest.as_str();
        any && rest.len() == length && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    match (text.strip_prefix("eui"), text.strip_prefix("naa")) {
        (Some(rest), _) => alphanumeric(rest, 16),
        (_, Some(rest)) => alphanumeric(rest, 32),
        _ => text.starts_with("iqn") && text.match_indices("iqn.").any(|(index, _)| is_iqn(&text[index + 4..])),
    }
}

/// A date, the name of an authority, and a text of its own.
fn is_iqn(text: &str) -> bool {
    let Some((authority, own)) = text.split_once(':') else { return false };
    let is_date = |date: &[u8]| {
        date.iter().enumerate().all(|(index, byte)| match index {
            4 => *byte == b'-',
            7 => *byte == b'.',
            _ => byte.is_ascii_digit(),
        })
    };
    let is_own = |c: char| !",;*&$| \t\n\r\u{c}".contains(c);
    let Some((date, name)) = authority.as_bytes().split_at_checked(8) else { return false };
    is_date(date)
        && !name.is_empty()
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
        && !own.is_empty()
        && own.chars().all(is_own)
}

fn fibre_channel(source: At<'_, '_>, errors: &mut Errors) {
    let (names, lun) = (source.field("targetWWNs"), source.field("lun"));
    match (names.is_empty(), source.field("wwids").is_empty()) {
        (true, true) => names.required("must specify either targetWWNs or wwids, but not both", errors),
        (false, false) => names.invalid("targetWWNs and wwids can not be specified simultaneously", errors),
        _ => {}
    }
    if !names.is_empty() && !lun.is_set() {
        lun.required("lun is required if targetWWNs is specified", errors);
    } else if !names.is_empty() {
        lun.between(0..=255, errors);
    }
}

fn flex_volume(source: At<'_, '_>, errors: &mut Errors) {
    for (key, option) in source.field("options").entries() {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace).to_lowercase();
        let namespace = format!(".{namespace}");
        if [".kubernetes.io", ".k8s.io"].iter().any(|reserved| namespace.ends_with(reserved)) {
            option.invalid_value(key, "kubernetes.io and k8s.io namespaces are reserved", errors);
        }
    }
}

fn azure_file(source: At<'_, '_>, errors: &mut Errors) {
    let namespace = source.field("secretNamespace");
    if namespace.is_set() {
        namespace.set(errors);
    }
}

fn azure_disk(source: At<'_, '_>, errors: &mut Errors) {
    const MANAGED: &str =
        "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
    const BLOB: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
    let (kind, uri) = (source.field("kind"), source.field("diskURI"));
    source.field("cachingMode").supported(&["None", "ReadOnly", "ReadWrite"], errors);
    kind.supported(&["Dedicated", "Managed", "Shared"], errors);
    match kind.text() {
        "Managed" if !uri.text().starts_with("/subscriptions/") => uri.unsupported(&[MANAGED], errors),
        "Managed" => {}
        _ if !uri.text().starts_with("https://") => uri.unsupported(&[BLOB], errors),
        _ => {}
    }
}

/// The rule for a reference to a secret, of which both parts must be there.
fn secret(reference: At<'_, '_>, errors: &mut Errors) {
    if reference.is_set() {
        reference.field("name").set(errors);
        reference.field("namespace").set(errors);
    }
}

fn storage_os(source: At<'_, '_>, errors: &mut Errors) {
    source.field("volumeName").optional(name::dns_label, errors);
    source.field("volumeNamespace").optional(name::dns_label, errors);
    secret(source.field("secretRef"), errors);
}

fn csi(source: At<'_, '_>, errors: &mut Errors) {
    csi_driver_name(source.field("driver"), errors);
    source.field("volumeHandle").set(errors);
    let references =
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"];
    for reference in references {
        let reference = source.field(reference);
        if reference.is_set() {
            reference.field("name").required_by(name::dns_subdomain, errors);
            reference.field("namespace").required_by(name::dns_label, errors);
        }
    }
}

/// Whether the source is a path of the host that is the root (`path.Clean`).
pub(super) fn is_root_of_host(spec: &Value) -> bool {
    let Some(path) = spec["hostPath"]["path"].as_str().filter(|path| path.starts_with('/')) else { return false };
    let depth = path.split('/').fold(0_usize, |depth, part| match part {
        "" | "." => depth,
        ".." => depth.saturating_sub(1),
        _ => depth + 1,
    });
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initiators_have_three_formats() {
        let good = ["iqn.2001-04.com.example:disk", "iqniqn.2001-04.a:b:c", "eui.0123456789abcdef"];
        let bad =
            ["", "iqn.2001-4.com:a", "iqn.2001-04.:a", "iqn.2001-04.a:a b", "iqn.2001-04.a:", "eui.0123", "naa.x"];
        good.iter().for_each(|text| assert!(is_initiator(text), "{text}"));
        bad.iter().for_each(|text| assert!(!is_initiator(text), "{text}"));
    }

    #[test]
    fn pairs_have_a_host_and_a_port() {
        ["a:1", ":1", "[::1]:2", "a:"].iter().for_each(|pair| assert!(has_port(pair), "{pair}"));
        ["", "a", "::1", "[::1]", "[a:1", "a]:1", "[a]b:1"].iter().for_each(|pair| assert!(!has_port(pair), "{pair}"));
    }
}
