//! `pods/{name}/exec`, `attach` and `portforward`: streams to a pod, over a connection that becomes one of SPDY or WebSocket.
//!
//! ```text
//!   options ─▶ admission ─▶ may the user create it? ─▶ pod, container ─▶ node, address ─▶ an upgrade? ─▶ the kubelet: one by rule, or one that cannot be reached
//! ```
//! Follows `pkg/registry/core/pod/rest/{subresources,authorize}.go` (v1.37.1).
//!
//! GAP: pods: streams over WebSocket with `v5.channel.k8s.io` are refused where the real server accepts them and then sends the refusal

use super::asked::{ask, refusal};
use super::locations::{connect_options, container, kubelet, object, refuse_dry_run};
use crate::api::reply::{Channels, Content};
use crate::api::request::Forward;
use crate::api::{Reply, Request, admission};
use crate::auth::authorizer::{Attributes, Target};
use crate::error::{ApiError, ApiResult};
use crate::registry::{Located, Stream, ids, text};
use bytes::Bytes;
use loops::{About, Answer};
use tree::{Value, json};

/// The protocols of channels in WebSocket, the preferred one first.
const PROTOCOLS: [&str; 2] = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
/// Those of ports; without any it is the same.
const PORT_PROTOCOLS: [&str; 2] = ["v4.channel.k8s.io", ""];
/// The channels of what a command prints, and of how it has ended.
const OUTPUT: u8 = 1;
const ERRORS: u8 = 2;
const STATUS: u8 = 3;

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
    let Located { namespace, name, .. } = request.target;
    let pod = object(request, ids::PODS, namespace, name)?;
    let container = match stream {
        Stream::Container => container(&pod, name, request.query.get("container"))?,
        Stream::Ports => String::new(),
    };
    let node = text(&pod, "/spec/nodeName");
    if node.is_empty() {
        return Err(ApiError::bad_request(format!("pod {name} does not have a host assigned")));
    }
    let host = kubelet(request, node)?;
    if !request.forward().upgrades {
        return Err(ApiError::bad_request("Upgrade request required"));
    }
    match ask(request, &container, about(request, stream)?).await {
        Some(answer) => by_rule(request, stream, answer),
        None => Err(ApiError::untyped(format!("error dialing backend: {}", host.refusal()))),
    }
}

/// The question to the kubelet.
fn about(request: &Request<'_>, stream: Stream) -> ApiResult<About> {
    Ok(match (stream, request.target.subresource_name()) {
        (Stream::Ports, _) => About::Ports(ports(request)?),
        (_, "exec") => About::Exec { command: request.query.all("command").map(str::to_owned).collect() },
        _ => About::Attach,
    })
}

/// The ports that are asked for, with a kubelet's words for those that cannot be (`NewV4Options`).
fn ports(request: &Request<'_>) -> ApiResult<Vec<u16>> {
    let mut ports = Vec::new();
    for text in request.query.all("ports") {
        for port in text.split(',') {
            match port.parse() {
                Ok(0) => return Err(ApiError::bad_request(format!("port {} must be > 0", json!(text)))),
                Ok(port) => ports.push(port),
                Err(_) => return Err(ApiError::bad_request(format!("unable to parse {} as a port", json!(text)))),
            }
        }
    }
    Ok(ports)
}

/// The answer of a kubelet by rule, as streams.
fn by_rule(request: &Request<'_>, stream: Stream, answer: Answer) -> ApiResult<Reply> {
    let Forward { upgrade, offered, .. } = *request.forward();
    let known: &[&'static str] = if stream == Stream::Ports { &PORT_PROTOCOLS } else { &PROTOCOLS };
    let is_offered = |protocol: &&&str| offered.split(',').any(|own| own.trim() == **protocol);
    let found = known.iter().find(is_offered).filter(|_| upgrade.eq_ignore_ascii_case("websocket"));
    let Some(protocol) = found.copied() else {
        let asked = if offered.is_empty() { upgrade } else { offered };
        let built: Vec<&str> = known.iter().copied().filter(|protocol| !protocol.is_empty()).collect();
        return Err(ApiError::bad_request(format!(
            "pods that run by rule are streamed to over WebSocket with {}, which is all that is built, and not over {asked}",
            built.join(" or "),
        )));
    };
    let (stdout, stderr, code) = match answer {
        Answer::Output { stdout, stderr, code } => (stdout, stderr, code),
        Answer::Ports(ports) if ports.is_empty() => {
            return Err(ApiError::bad_request("query parameter \"port\" is required"));
        }
        Answer::Ports(ports) => return Ok(Reply::Channels(Channels { protocol, content: Content::Ports(ports) })),
        other => return Err(refusal(other)),
    };
    let is_asked = |name: &str| request.query.flag(name) == Some(true);
    let errors = if is_asked("tty") { OUTPUT } else { ERRORS };
    let mut messages = Vec::new();
    for (channel, text, wanted) in
        [(OUTPUT, stdout, is_asked("stdout")), (errors, stderr, is_asked("stderr") || is_asked("tty"))]
    {
        if wanted && !text.is_empty() {
            messages.push(message(channel, &text));
        }
    }
    messages.push(message(STATUS, &status(code).to_string()));
    Ok(Reply::Channels(Channels { protocol, content: Content::Messages(messages) }))
}

fn message(channel: u8, text: &str) -> Bytes {
    [&[channel], text.as_bytes()].concat().into()
}

/// How a command has ended.
fn status(code: i64) -> Value {
    if code == 0 {
        return json!({"metadata": {}, "status": "Success"});
    }
    json!({
        "metadata": {},
        "status": "Failure",
        "message": format!("command terminated with non-zero exit code: exit status {code}"),
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": code.to_string()}]},
    })
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
    let Located { version, namespace, name, .. } = request.target;
    let target = Target::Resource {
        group: &version.group,
        version: &version.name,
        resource: &version.plural,
        subresource: request.target.subresource_name(),
        namespace,
        name,
    };
    let attributes = Attributes { deadline: &request.deadline, ..Attributes::new(&request.user, "create", target) };
    let decision = request.server.cluster.authorize(&attributes)?;
    match (decision.is_allowed(), decision.error()) {
        (true, _) => Ok(()),
        (false, Some(error)) => Err(ApiError::internal(error)),
        (false, None) => Err(ApiError::forbidden(version.qualified(), name, decision.reason())),
    }
}
