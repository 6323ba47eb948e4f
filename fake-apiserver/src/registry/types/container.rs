//! `Container`: rules of all containers, then those of a pod's own and of its init containers.
//!
//! Follows `validateContainers`, `validateInitContainers` and `validateContainerCommon` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::container_port::{container_ports, host_ports};
use super::container_restart::{no_restart_to_resize, resize_policy, restart_policy};
use super::env_var::{env, env_from};
use super::probe::{lifecycle, probes};
use super::resource_name::container_resource_name;
use super::resource_requirements::{resource_claims, resource_requirements};
use super::security_context::security_context;
use super::volume_mount::{volume_devices, volume_mounts};
use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::{items, text};
use std::collections::HashSet;
use tree::Value;

/// The part of a pod that the rules of its containers need.
pub(super) struct Scope<'s> {
    /// Names of the volumes that can be mounted.
    pub(super) volumes: HashSet<&'s str>,
    /// Names of those of them that can be devices.
    pub(super) devices: HashSet<&'s str>,
    /// Names of the pod's claims of resources.
    pub(super) claims: HashSet<&'s str>,
    /// Whether the pod's containers are never started again.
    pub(super) never_restarts: bool,
    /// Whether the pod shares the users of its host.
    pub(super) host_users: bool,
    /// The seconds that the pod has to end.
    pub(super) grace_period: Option<i64>,
}

/// Rules for `containers`.
pub(super) fn containers(all: At<'_, '_>, scope: &Scope<'_>, errors: &mut Errors) {
    all.set(errors);
    let mut names = HashSet::new();
    for whole in all.items() {
        common(whole, scope, errors);
        let (at, container) = (whole.path(), whole.value());
        let name = text(container, "/name");
        if !names.insert(name) {
            errors.duplicate(at.child("name"), name);
        }
        lifecycle(at.child("lifecycle"), &container["lifecycle"], scope.grace_period, errors);
        probes(at, container, errors);
        restart_policy(whole, errors);
    }
    host_ports(all.path(), items(all.value(), ""), errors);
}

/// Rules for `initContainers`; `regular` are the names of the pod's own containers.
pub(super) fn init_containers(all: At<'_, '_>, regular: &[Value], scope: &Scope<'_>, errors: &mut Errors) {
    let mut names: HashSet<&str> = regular.iter().map(|container| text(container, "/name")).collect();
    for whole in all.items() {
        common(whole, scope, errors);
        let (at, container) = (whole.path(), whole.value());
        let policy = text(container, "/restartPolicy");
        restart_policy(whole, errors);
        let name = text(container, "/name");
        if !names.insert(name) && !name.is_empty() {
            errors.duplicate(at.child("name"), name);
        }
        if policy == "Always" {
            lifecycle(at.child("lifecycle"), &container["lifecycle"], scope.grace_period, errors);
            probes(at, container, errors);
            continue;
        }
        let forbidden = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];
        for field in forbidden.iter().filter(|field| container.get(**field).is_some()) {
            errors.forbidden(at.child(field), "may not be set for init containers without restartPolicy=Always");
        }
        no_restart_to_resize(whole, errors);
    }
}

/// When an image is pulled.
pub(super) const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// Rules of every container (`validateContainerCommon`).
pub(super) fn common(whole: At<'_, '_>, scope: &Scope<'_>, errors: &mut Errors) {
    let (at, container) = (whole.path(), whole.value());
    match text(container, "/name") {
        "" => errors.required(at.child("name"), ""),
        name => errors.invalid_each(at.child("name"), name, name::dns_label(name)),
    }
    errors.set(at.child("image"), text(container, "/image"));
    let policy = text(container, "/terminationMessagePolicy");
    errors.one_of(at.child("terminationMessagePolicy"), policy, &["File", "FallbackToLogsOnError"]);
    container_ports(at.child("ports"), items(container, "/ports"), errors);
    env(at.child("env"), items(container, "/env"), errors);
    env_from(at.child("envFrom"), items(container, "/envFrom"), errors);
    volume_mounts(at.child("volumeMounts"), container, &scope.volumes, errors);
    volume_devices(whole, &scope.volumes, &scope.devices, errors);
    let policy = text(container, "/imagePullPolicy");
    errors.one_of(at.child("imagePullPolicy"), policy, &PULL_POLICIES);
    resource_requirements(at.child("resources"), &container["resources"], container_resource_name, errors);
    resource_claims(whole.field("resources.claims"), &scope.claims, errors);
    resize_policy(whole.field("resizePolicy"), scope.never_restarts, errors);
    security_context(whole.field("securityContext"), scope.host_users, errors);
}

/// Rule for the image of a container in a list: no white space around it.
pub(in crate::registry) fn trimmed_image(at: Path<'_>, container: &Value, errors: &mut Errors) {
    let image = text(container, "/image");
    if image.trim() != image {
        errors.invalid(at.child("image"), image, "must not have leading or trailing whitespace");
    }
}
