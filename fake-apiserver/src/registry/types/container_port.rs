//! `ContainerPort`, and ports wherever they are given by number or by name.
//!
//! Follows `validateContainerPorts` and `checkHostPortConflicts` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::holder::Holder;
use crate::error::{Errors, Path};
use crate::registry::{items, number, text};
use std::collections::HashSet;
use tree::Value;

/// Rules for `ports` of a container.
pub(super) fn container_ports(at: Path<'_>, ports: &[Value], errors: &mut Errors) {
    let mut names = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(port, "/name");
        if !name.is_empty() {
            let bad = port_name(name);
            if !bad.is_empty() {
                errors.invalid_each(at.child("name"), name, bad);
            } else if !names.insert(name) {
                errors.duplicate(at.child("name"), name);
            }
        }
        match number(port, "/containerPort").unwrap_or_default() {
            0 => errors.required(at.child("containerPort"), ""),
            given => port_number(at.child("containerPort"), given, errors),
        }
        match number(port, "/hostPort").unwrap_or_default() {
            0 => {}
            given => port_number(at.child("hostPort"), given, errors),
        }
        errors.one_of(at.child("protocol"), text(port, "/protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

/// Rule for the ports of all containers together: none takes a host port twice.
pub(super) fn host_ports(at: Path<'_>, containers: &[Value], errors: &mut Errors) {
    let mut taken = HashSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in items(container, "/ports").iter().enumerate() {
            let host_port = number(port, "/hostPort").unwrap_or_default();
            if host_port == 0 {
                continue;
            }
            let claim = (text(port, "/protocol"), text(port, "/hostIP"), host_port);
            if !taken.insert(claim) {
                let (protocol, ip, host_port) = claim;
                let printed = format!("{protocol}/{ip}/{host_port}");
                errors.duplicate(at.index(index).item("ports", port_index).child("hostPort"), printed);
            }
        }
    }
}

/// Rule for ports in a pod on its host's network: the host's port is the container's. Pods of a template get it by default.
pub(super) fn host_network(at: Path<'_>, containers: &[Value], holder: Holder<'_>, errors: &mut Errors) {
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in items(container, "/ports").iter().enumerate() {
            let given = matches!(holder, Holder::Pod(_)) || number(port, "/hostPort").unwrap_or_default() != 0;
            if given && port["hostPort"] != port["containerPort"] {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                let at = at.index(index);
                errors.invalid(at.item("ports", port_index).child("hostPort"), port["hostPort"].clone(), detail);
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
