//! The node ports that a service needs.
//!
//! Follows `initNodePorts`, `updateNodePorts`, `allocHealthCheckNodePort` and `updateHealthCheckNodePort` of
//! `pkg/registry/core/service/storage/alloc.go` (v1.37.1). What a service does not need any more is free once it is stored without.

use super::carried::needs_node_ports;
use super::node_ports::Operation;
use crate::error::{ApiError, ApiResult, FieldError, Path};
use crate::object::meta;
use crate::registry::services::{health_check_node_port, needs_health_check, node_ports, set_spec, type_of};
use crate::registry::{items, number, text};
use std::collections::{HashMap, HashSet};
use tree::Value;

/// Takes the node ports that a service needs, and sets them there; `old` is the service that it replaces.
///
/// # Errors
/// 422 if it requests ports that it cannot have, 500 if none is left.
pub(super) fn take(ports: &mut Operation<'_>, new: &mut Value, old: Option<&Value>) -> ApiResult<()> {
    if matches!(type_of(new), "NodePort" | "LoadBalancer") {
        match old {
            None => of_new(ports, new)?,
            Some(old) => of_changed(ports, new, old)?,
        }
    }
    if needs_health_check(new) && !old.is_some_and(needs_health_check) {
        health_check(ports, new).map_err(ApiError::internal)?;
    }
    Ok(())
}

/// The numbers of a port: its own and that on nodes, 0 if there is none.
fn numbers(service: &Value, index: usize) -> (i64, i64) {
    let port = &items(service, "/spec/ports")[index];
    (number(port, "/port").unwrap_or_default(), number(port, "/nodePort").unwrap_or_default())
}

fn set(service: &mut Value, index: usize, node_port: i64) {
    if let Some(port) = service.pointer_mut("/spec/ports").and_then(|ports| ports.get_mut(index)) {
        port["nodePort"] = node_port.into();
    }
}

/// A refusal by the pool.
fn refused(service: &Value, index: usize, node_port: i64, why: String) -> ApiError {
    let spec = Path::new("spec");
    let item = spec.item("ports", index);
    let finding = FieldError::invalid(item.child("nodePort"), &node_port.into(), why);
    let kind = crate::error::Qualified { group: "", resource: "Service" };
    ApiError::invalid(kind, meta::name(service), &[finding])
}

fn none_left(why: String) -> ApiError {
    ApiError::internal(format!("failed to allocate a nodePort: {why}"))
}

/// Ports of the same number, of several protocols, share a node port.
fn of_new(ports: &mut Operation<'_>, service: &mut Value) -> ApiResult<()> {
    let mut of_ports: HashMap<i64, i64> = HashMap::new();
    for index in 0..items(service, "/spec/ports").len() {
        let (own, node_port) = numbers(service, index);
        if node_port == 0 && !needs_node_ports(service) {
            continue;
        }
        match of_ports.get(&own) {
            None => {
                let mut all = (0..items(service, "/spec/ports").len()).map(|index| numbers(service, index));
                let asked = all.find(|(other, node_port)| *other == own && *node_port != 0);
                let taken = match asked {
                    Some((_, asked)) => {
                        ports.take(asked).map_err(|why| refused(service, index, asked, why))?;
                        asked
                    }
                    None => ports.take_any().map_err(none_left)?,
                };
                set(service, index, taken);
                of_ports.insert(own, taken);
            }
            Some(taken) if *taken == node_port => {}
            Some(taken) if node_port == 0 => set(service, index, *taken),
            Some(_) => ports.take(node_port).map_err(|why| refused(service, index, node_port, why))?,
        }
    }
    Ok(())
}

fn of_changed(ports: &mut Operation<'_>, new: &mut Value, old: &Value) -> ApiResult<()> {
    let before = node_ports(old);
    let (mut asked, mut seen) = (HashSet::new(), HashSet::new());
    for index in 0..items(new, "/spec/ports").len() {
        let (_, mut node_port) = numbers(new, index);
        if node_port == 0 && !needs_node_ports(new) {
            continue;
        }
        if node_port == 0 {
            node_port = ports.take_any().map_err(none_left)?;
            set(new, index, node_port);
        } else if !before.contains(&node_port) && !asked.contains(&node_port) {
            ports.take(node_port).map_err(|why| refused(new, index, node_port, why))?;
            asked.insert(node_port);
        }
        let protocol = text(&items(new, "/spec/ports")[index], "/protocol").to_owned();
        if !seen.insert((protocol.clone(), node_port)) {
            return Err(ApiError::untyped(format!("duplicate nodePort: {{{protocol} {node_port}}}")));
        }
    }
    Ok(())
}

fn health_check(ports: &mut Operation<'_>, service: &mut Value) -> Result<(), String> {
    match health_check_node_port(service) {
        0 => {
            let port = ports.take_any().map_err(|why| format!("failed to allocate a HealthCheck NodePort 0: {why}"))?;
            set_spec(service, "healthCheckNodePort", port);
            Ok(())
        }
        asked => {
            ports.take(asked).map_err(|why| format!("failed to allocate requested HealthCheck NodePort {asked}: {why}"))
        }
    }
}
