//! `proxy` of pods, services and nodes: requests that are forwarded to them, whatever their method and path.
//!
//! Follows `ResourceLocation` of `pkg/registry/core/{pod,node}/strategy.go` and `pkg/registry/core/service/storage/storage.go` (v1.37.1),
//! `RandomEndpoint` of `k8s.io/apiserver/pkg/util/proxy` (v0.37.1; of several endpoints the first is taken), and `UpgradeAwareHandler`
//! of `k8s.io/apimachinery/pkg/util/proxy` (v0.37.1).

use super::locations::{Host, connect_options, kubelet, object, refuse_dry_run};
use crate::api::{Reply, Request, admission};
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{ids, items, number, text};
use crate::store::Scope;
use tree::Value;

/// The label of endpoint slices with the name of their service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

pub(crate) async fn connect(request: &mut Request<'_>, verb: &str) -> ApiResult<Reply> {
    refuse_dry_run(request)?;
    let mut options = connect_options(request);
    let start = format!("/{}/proxy", request.target.name);
    let path = request.forward().path.split_once(&start).map_or("", |(_, path)| path);
    if !path.is_empty() {
        options["path"] = path.into();
    }
    admission::connect(request, &mut options).await?;
    let host = match request.target.resource.id {
        ids::NODES => node(request)?,
        ids::SERVICES => service(request)?,
        _ => pod(request)?,
    };
    let forward = request.forward();
    if forward.upgrades {
        return Err(ApiError::untyped(format!("error dialing backend: {}", host.refusal())));
    }
    if forward.is_root && verb == "get" {
        let mark = if forward.query.is_empty() { "" } else { "?" };
        return Ok(Reply::Moved { location: format!("{}/{mark}{}", forward.path, forward.query) });
    }
    Err(ApiError::service_unavailable(format!("error trying to reach service: {}", host.refusal())))
}

/// The scheme, name and port in `name`, `name:port` or `scheme:name:port` (`SplitSchemeNamePort`).
///
/// # Errors
/// 400 for anything else; `what` is the word for such objects.
fn parts<'r>(request: &Request<'r>, what: &str) -> ApiResult<[&'r str; 3]> {
    let parts: Vec<&str> = request.target.name.split(':').collect();
    let parts = match parts[..] {
        [name] => ["", name, ""],
        [name, port] => ["", name, port],
        [scheme, name, port] => [scheme, name, port],
        _ => ["", "", ""],
    };
    match parts {
        ["" | "http" | "https", name, _] if !name.is_empty() => Ok(parts),
        _ => Err(ApiError::bad_request(format!("invalid {what} request {:?}", request.target.name))),
    }
}

fn node(request: &Request<'_>) -> ApiResult<Host> {
    let [scheme, name, port] = parts(request, "node")?;
    let kubelet = kubelet(request, name)?;
    kubelet.check()?;
    Ok(if port.is_empty() || port == kubelet.port { kubelet } else { Host::of_url(scheme, &kubelet.name, port) })
}

fn pod(request: &Request<'_>) -> ApiResult<Host> {
    let [scheme, name, port] = parts(request, "pod")?;
    let pod = object(request, ids::PODS, request.target.namespace, name)?;
    let first =
        items(&pod, "/spec/containers").iter().find_map(|container| number(container, "/ports/0/containerPort"));
    let port = match port {
        "" => first.map(|port| port.to_string()).unwrap_or_default(),
        port => port.into(),
    };
    let host = Host::of_url(scheme, text(&pod, "/status/podIPs/0/ip"), &port);
    let own = Host { name: text(&pod, "/status/podIPs/0/ip").into(), port: String::new() };
    own.check().map_err(|_| ApiError::bad_request("address not allowed"))?;
    Ok(host)
}

fn service(request: &Request<'_>) -> ApiResult<Host> {
    let [scheme, name, port] = parts(request, "service")?;
    let mut port_name = port.to_owned();
    if let Ok(port) = port.parse::<i64>() {
        let service = object(request, ids::SERVICES, request.target.namespace, name)?;
        let found = items(&service, "/spec/ports").iter().find(|own| number(own, "/port") == Some(port));
        let missing = || ApiError::service_unavailable(format!("no service port {port} found for service {name:?}"));
        port_name = text(found.ok_or_else(missing)?, "/name").into();
    }
    let snapshot = request.server.cluster.store.snapshot();
    let scope = Scope { resource: ids::ENDPOINT_SLICES, namespace: Some(request.target.namespace.into()), name: None };
    let slices = snapshot.range(&scope, "").map(|entry| entry.object());
    let mut slices: Vec<Value> =
        slices.filter(|slice| meta::labels(slice).get(SERVICE_NAME).is_some_and(|own| own == name)).collect();
    slices.sort_by_key(|slice| text(slice, "/addressType") != "IPv4");
    let found = slices.iter().find_map(|slice| endpoint(request, slice, &port_name));
    let none = || ApiError::service_unavailable(format!("no endpoints available for service {name:?}"));
    let (address, port) = found.ok_or_else(none)?;
    Ok(Host::of_url(scheme, address, &port.to_string()))
}

/// An address that is ready and a pod's, and its port of that name.
fn endpoint<'s>(request: &Request<'_>, slice: &'s Value, port: &str) -> Option<(&'s str, i64)> {
    let named = |own: &&Value| own.get("name").and_then(Value::as_str) == Some(port) && number(own, "/port").is_some();
    let port = items(slice, "/ports").iter().find(named)?;
    let is_ready = |endpoint: &&Value| endpoint.pointer("/conditions/ready") != Some(&Value::Bool(false));
    let mut ready = items(slice, "/endpoints").iter().filter(is_ready);
    let endpoint = ready.find(|endpoint| is_pod(request, endpoint))?;
    Some((text(endpoint, "/addresses/0"), number(port, "/port")?))
}

/// Whether the address of an endpoint is that of its pod (`isValidAddress`).
fn is_pod(request: &Request<'_>, endpoint: &Value) -> bool {
    let target = &endpoint["targetRef"];
    text(target, "/namespace") == request.target.namespace
        && object(request, ids::PODS, request.target.namespace, text(target, "/name")).is_ok_and(|pod| {
            items(&pod, "/status/podIPs").iter().any(|ip| text(ip, "/ip") == text(endpoint, "/addresses/0"))
        })
}
