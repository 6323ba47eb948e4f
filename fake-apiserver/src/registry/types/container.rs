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
use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;
use std::collections::HashSet;

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
    for container in all.items() {
        common(container, scope, errors);
        let name = container.field("name");
        if !names.insert(name.text()) {
            name.duplicate(errors);
        }
        lifecycle(container.field("lifecycle"), scope.grace_period, errors);
        probes(&container, errors);
        restart_policy(container, errors);
    }
    host_ports(all, errors);
}

/// Rules for `initContainers`, where the pod has those `regular` ones.
pub(super) fn init_containers(all: At<'_, '_>, regular: &At<'_, '_>, scope: &Scope<'_>, errors: &mut Errors) {
    let mut names: HashSet<&str> = regular.items().map(|container| container.field("name").text()).collect();
    for container in all.items() {
        common(container, scope, errors);
        restart_policy(container, errors);
        let name = container.field("name");
        if !names.insert(name.text()) && !name.is_empty() {
            name.duplicate(errors);
        }
        if container.field("restartPolicy").text() == "Always" {
            lifecycle(container.field("lifecycle"), scope.grace_period, errors);
            probes(&container, errors);
            continue;
        }
        let forbidden = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];
        for field in forbidden.map(|field| container.field(field)).iter().filter(|field| field.is_set()) {
            field.forbidden("may not be set for init containers without restartPolicy=Always", errors);
        }
        no_restart_to_resize(container, errors);
    }
}

/// When an image is pulled.
pub(super) const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// Rules of every container (`validateContainerCommon`).
pub(super) fn common(container: At<'_, '_>, scope: &Scope<'_>, errors: &mut Errors) {
    container.field("name").required_by(name::dns_label, errors);
    container.field("image").set(errors);
    container.field("terminationMessagePolicy").one_of(&["File", "FallbackToLogsOnError"], errors);
    container_ports(container.field("ports"), errors);
    env(container.field("env"), errors);
    env_from(container.field("envFrom"), errors);
    volume_mounts(&container, &scope.volumes, errors);
    volume_devices(container, &scope.volumes, &scope.devices, errors);
    container.field("imagePullPolicy").one_of(&PULL_POLICIES, errors);
    let resources = container.field("resources");
    resource_requirements(resources.path(), resources.value(), container_resource_name, errors);
    resource_claims(container.field("resources.claims"), &scope.claims, errors);
    resize_policy(container.field("resizePolicy"), scope.never_restarts, errors);
    security_context(container.field("securityContext"), scope.host_users, errors);
}

/// Rule for the image of a container in a list: no white space around it.
pub(in crate::registry) fn trimmed_image(container: At<'_, '_>, errors: &mut Errors) {
    let image = container.field("image");
    if image.text().trim() != image.text() {
        image.invalid("must not have leading or trailing whitespace", errors);
    }
}
