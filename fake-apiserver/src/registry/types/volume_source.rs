//! The rules that a source of a volume has in a pod as well as in a persistent volume.
//!
//! Follows `validate*VolumeSource` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;

/// A kind of source: its field, the fields that must be set, and the other rules.
pub(super) type Source = (&'static str, &'static [&'static str], fn(At<'_, '_>, &mut Errors));

/// Fields that messages name otherwise: where a source is one too many, and where it breaks a rule.
const RENAMED: [(&str, &str, &str); 3] = [
    ("gcePersistentDisk", "gcePersistentDisk", "persistentDisk"),
    ("cephfs", "cephFS", "cephfs"),
    ("downwardAPI", "downwarAPI", "downwardAPI"),
];

/// The message about a portal that is too long for the name of its volume.
pub(super) const LONG_PORTAL: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
    iscsi.initiatorName is specified.";

/// Rules for the sources in `volume`, in the order of `sources`. Only the first counts, and `uncounted`, a field that upstream does not
/// compare with the others. `more` gets the field of each, and whether it counts.
pub(super) fn one_source(
    volume: At<'_, '_>,
    sources: &[Source],
    uncounted: Option<&str>,
    errors: &mut Errors,
    more: impl Fn(&str, bool, &mut Errors),
) {
    let mut any = false;
    for (field, required, rule) in sources.iter().filter(|(field, ..)| volume.field(field).is_set()) {
        let renamed = RENAMED.iter().find(|(own, ..)| own == field);
        let (extra, shown) = renamed.map_or((*field, *field), |(_, extra, shown)| (*extra, *shown));
        let counts = !any || uncounted == Some(field);
        let at = volume.path();
        if counts {
            let source = volume.field(field).shown_at(at.child(shown));
            required.iter().for_each(|field| source.field(field).set(errors));
            rule(source, errors);
        } else {
            errors.forbidden(at.child(extra), "may not specify more than 1 volume type");
        }
        more(field, counts, errors);
        any = true;
    }
    if !any {
        volume.required("must specify a volume type", errors);
    }
}

/// Rules for the unit of an iSCSI target, and for the secret where a client must authenticate.
pub(super) fn iscsi_access(source: At<'_, '_>, errors: &mut Errors) {
    source.field("lun").between(0..=255, errors);
    let secret = source.field("secretRef");
    let authenticates = ["chapAuthDiscovery", "chapAuthSession"].iter().any(|field| source.field(field).flag());
    if authenticates && !secret.is_set() {
        secret.required("", errors);
    }
}

/// Whether a portal is too long for the name of its volume.
pub(super) fn is_long_portal(volume: &str, portal: At<'_, '_>) -> bool {
    volume.len() + ":".len() + portal.text().len() > 64
}

pub(super) fn storage_os_names(source: At<'_, '_>, errors: &mut Errors) {
    source.field("volumeName").optional(name::dns_label, errors);
    source.field("volumeNamespace").optional(name::dns_label, errors);
}

/// The rule for a reference to a secret, whose name must be there.
pub(super) fn secret_name(reference: At<'_, '_>, errors: &mut Errors) {
    if reference.is_set() {
        reference.field("name").set(errors);
    }
}

/// Rule for a path that must not leave the folder that it names (`validatePathNoBacksteps`).
pub(super) fn no_backsteps(path: At<'_, '_>, errors: &mut Errors) {
    if path.text().split('/').any(|part| part == "..") {
        path.invalid("must not contain '..'", errors);
    }
}

pub(super) fn host_path(source: At<'_, '_>, errors: &mut Errors) {
    const TYPES: [&str; 8] =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    let (path, type_) = (source.field("path"), source.field("type"));
    if !path.is_empty() {
        no_backsteps(path, errors);
        type_.supported(&TYPES, errors);
    }
}

pub(super) fn partition(source: At<'_, '_>, errors: &mut Errors) {
    let partition = source.field("partition");
    if partition.number().is_some_and(|number| !(0..=255).contains(&number)) {
        partition.invalid("must be between 1 and 255, inclusive", errors);
    }
}

pub(super) fn flocker(source: At<'_, '_>, errors: &mut Errors) {
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

pub(super) fn nfs(source: At<'_, '_>, errors: &mut Errors) {
    let path = source.field("path");
    if !path.text().starts_with('/') {
        path.invalid("must be an absolute path", errors);
    }
}

pub(super) fn quobyte(source: At<'_, '_>, errors: &mut Errors) {
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

pub(super) fn fibre_channel(source: At<'_, '_>, errors: &mut Errors) {
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

pub(super) fn flex_volume(source: At<'_, '_>, errors: &mut Errors) {
    for (key, option) in source.field("options").entries() {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace).to_lowercase();
        let namespace = format!(".{namespace}");
        if [".kubernetes.io", ".k8s.io"].iter().any(|reserved| namespace.ends_with(reserved)) {
            option.invalid_value(key, "kubernetes.io and k8s.io namespaces are reserved", errors);
        }
    }
}

pub(super) fn azure_disk(source: At<'_, '_>, errors: &mut Errors) {
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

/// Whether a text names an initiator in one of the three formats (`iscsiInitiatorIqnRegex` and the others).
pub(super) fn is_initiator(text: &str) -> bool {
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
