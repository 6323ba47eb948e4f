//! `pods/{name}/exec`, `attach` and `portforward`: streams to a pod, over a connection that becomes one of SPDY or WebSocket.
//!
//! ```text
//!   options ─▶ admission ─▶ may the user create it? ─▶ pod, container ─▶ node, address ─▶ an upgrade? ─▶ the kubelet, which cannot be reached
//! ```
//! Follows `pkg/registry/core/pod/rest/{subresources,authorize}.go` (v1.37.1).
//!
//! GAP: pods: streams over WebSocket with `v5.channel.k8s.io` are refused where the real server accepts them and then sends the refusal

use super::locations::{connect_options, container, kubelet, object, refuse_dry_run};
use crate::api::{Reply, Request, admission};
use crate::auth::authorizer::{Attributes, Target};
use crate::error::{ApiError, ApiResult};
use crate::registry::{Stream, ids, text};
use tree::{Value, json};

pub(crate) async fn connect(request: &mut Request<'_>, stream: Stream, verb: &str) -> ApiResult<Reply> {
    refuse_dry_run(request)?;
    if stream == Stream::Ports {
        request.query.all("ports").flat_map(|ports| ports.split(',')).try_for_each(check_port)?;
    }
    let mut asked = options(request, stream);
    admission::connect(request, &mut asked).await?;
    if verb != "create" {
        authorize_create(request)?;
    }
    let pod = object(request, ids::PODS, request.namespace, request.name)?;
    if stream == Stream::Container {
        container(&pod, request.name, request.query.get("container"))?;
    }
    let node = text(&pod, "/spec/nodeName");
    if node.is_empty() {
        return Err(ApiError::bad_request(format!("pod {} does not have a host assigned", request.name)));
    }
    let host = kubelet(request, node)?;
    if !request.forward().upgrades {
        return Err(ApiError::bad_request("Upgrade request required"));
    }
    Err(ApiError::untyped(format!("error dialing backend: {}", host.refusal())))
}

/// The options of the request, as an object.
fn options(request: &Request<'_>, stream: Stream) -> Value {
    let mut options = connect_options(request);
    let query = request.query;
    match stream {
        Stream::Ports => {
            let ports = query.all("ports").flat_map(|ports| ports.split(',')).filter_map(|port| port.parse().ok());
            let ports: Vec<Value> = ports.map(|port: u16| port.into()).collect();
            if !ports.is_empty() {
                options["ports"] = ports.into();
            }
        }
        Stream::Container => {
            for field in ["stdin", "stdout", "stderr", "tty"] {
                if query.flag(field) == Some(true) {
                    options[field] = true.into();
                }
            }
            if !query.get("container").is_empty() {
                options["container"] = query.get("container").into();
            }
            let command: Vec<Value> = query.all("command").map(Value::from).collect();
            if !command.is_empty() {
                options["command"] = command.into();
            }
        }
    }
    options
}

/// `strconv.ParseUint(text, 10, 16)`.
fn check_port(text: &str) -> ApiResult<()> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = match text.parse::<u16>() {
        Ok(_) if digits => return Ok(()),
        _ if digits => "value out of range",
        _ => "invalid syntax",
    };
    let text = json!(text);
    Err(ApiError::bad_request(format!("cannot convert to []int32: strconv.ParseUint: parsing {text}: {why}")))
}

/// Authorizes a GET once more, as the POST that it stands for (`ensureAuthorizedForVerb`).
fn authorize_create(request: &Request<'_>) -> ApiResult<()> {
    let target = Target::Resource {
        group: &request.version.group,
        version: &request.version.name,
        resource: &request.version.plural,
        subresource: request.subresource.map_or("", |subresource| &subresource.name),
        namespace: request.namespace,
        name: request.name,
    };
    let attributes = Attributes { deadline: &request.deadline, ..Attributes::new(&request.user, "create", target) };
    let decision = request.cluster.authorize(&attributes)?;
    match (decision.is_allowed(), decision.error()) {
        (true, _) => Ok(()),
        (false, Some(error)) => Err(ApiError::internal(error)),
        (false, None) => Err(ApiError::forbidden(request.version.qualified(), request.name, decision.reason())),
    }
}
