//! `ContainerPort`, and ports wherever they are given by number or by name.
//!
//! Follows `validateContainerPorts` and `checkHostPortConflicts` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::holder::Holder;
use crate::error::{Errors, Path};
use crate::registry::cursor::At;
use std::collections::HashSet;

/// Rules for `ports` of a container.
pub(super) fn container_ports(ports: At<'_, '_>, errors: &mut Errors) {
    let mut names = HashSet::new();
    for port in ports.items() {
        let name = port.field("name");
        if !name.is_empty() {
            let bad = port_name(name.text());
            if !bad.is_empty() {
                errors.invalid_each(name.path(), name.text(), bad);
            } else if !names.insert(name.text()) {
                name.duplicate(errors);
            }
        }
        let own = port.field("containerPort");
        match own.number().unwrap_or_default() {
            0 => own.required("", errors),
            given => port_number(own.path(), given, errors),
        }
        let of_host = port.field("hostPort");
        match of_host.number().unwrap_or_default() {
            0 => {}
            given => port_number(of_host.path(), given, errors),
        }
        port.field("protocol").one_of(&["SCTP", "TCP", "UDP"], errors);
    }
}

/// Rule for the ports of all containers together: none takes a host port twice.
pub(super) fn host_ports(containers: At<'_, '_>, errors: &mut Errors) {
    let mut taken = HashSet::new();
    for container in containers.items() {
        for port in container.field("ports").items() {
            let of_host = port.field("hostPort");
            let number = of_host.number().unwrap_or_default();
            if number == 0 {
                continue;
            }
            let (protocol, ip) = (port.field("protocol").text(), port.field("hostIP").text());
            if !taken.insert((protocol, ip, number)) {
                errors.duplicate(of_host.path(), format!("{protocol}/{ip}/{number}"));
            }
        }
    }
}

/// Rule for ports in a pod on its host's network: the host's port is the container's. Pods of a template get it by default.
pub(super) fn host_network(containers: At<'_, '_>, holder: Holder<'_>, errors: &mut Errors) {
    for container in containers.items() {
        for port in container.field("ports").items() {
            let of_host = port.field("hostPort");
            let given = matches!(holder, Holder::Pod(_)) || of_host.number().unwrap_or_default() != 0;
            if given && of_host.value() != port.field("containerPort").value() {
                of_host.invalid("must match `containerPort` when `hostNetwork` is true", errors);
            }
        }
    }
}

/// `IsValidPortNum`.
pub(in crate::registry) fn port_number(at: Path<'_>, number: i64, errors: &mut Errors) {
    if !(1..=65535).contains(&number) {
        errors.invalid(at, number, "must be between 1 and 65535, inclusive");
    }
}

/// `IsValidPortName`.
pub(in crate::registry) fn port_name(text: &str) -> Vec<String> {
    let rules = [
        (text.len() > 15, "must be no more than 15 characters"),
        (
            text.is_empty()
                || !text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (!text.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)"),
        (text.contains("--"), "must not contain consecutive hyphens"),
        (text.starts_with('-') || text.ends_with('-'), "must not begin or end with a hyphen"),
    ];
    rules.into_iter().filter(|(broken, _)| *broken).map(|(_, objection)| objection.into()).collect()
}
