//! Component statuses: the health of the parts of a control plane, probed at each read, and not stored.
//!
//! Follows `pkg/registry/core/componentstatus/rest.go` (v1.37.1). The store is this server's own; the other two are probed at the
//! ports of a real server.
//!
//! GAP: componentstatuses: whether a component that listens is healthy is not asked

use crate::api::request::options::ListOptions;
use crate::api::{Reply, Request};
use crate::error::{ApiError, ApiResult, Qualified};
use crate::object::selector::FieldSelector;
use crate::registry::text;
use crate::schema;
use bytes::Bytes;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpStream;
use tree::{Value, json};

/// The components and the ports of their `/healthz`; the store has none.
const COMPONENTS: [(&str, Option<u16>); 3] =
    [("scheduler", Some(10259)), ("controller-manager", Some(10257)), ("etcd-0", None)];

pub(crate) async fn get(request: &Request<'_>) -> ApiResult<Reply> {
    let component = COMPONENTS.into_iter().find(|(name, _)| *name == request.name);
    let resource = Qualified { group: "", resource: "componentstatus" };
    let component = component.ok_or_else(|| ApiError::not_found(resource, request.name))?;
    Ok(Reply::Other { code: 200, line: line(request, &status(component).await) })
}

pub(crate) async fn list(request: &Request<'_>) -> ApiResult<Reply> {
    let options = ListOptions::parse(request.query, false)?;
    let fields = FieldSelector::parse(options.field_selector, &request.version.selectable)?;
    let mut lines = Vec::new();
    for component in COMPONENTS {
        let status = status(component).await;
        let field = |name: &str| if name == "metadata.name" { text(&status, "/metadata/name") } else { "" };
        if options.label_selector.matches([]) && fields.matches(field) {
            lines.push(line(request, &status));
        }
    }
    Ok(Reply::Computed(lines))
}

async fn status((name, port): (&str, Option<u16>)) -> Value {
    let (healthy, message) = match port {
        None => ("True", "ok".to_owned()),
        Some(port) => {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            match TcpStream::connect(address).await {
                Ok(_) => ("Unknown", format!("fake-apiserver does not ask {name} for its health")),
                Err(_) => {
                    let why = format!("dial tcp {address}: connect: connection refused");
                    ("False", format!("Get \"https://{address}/healthz\": {why}"))
                }
            }
        }
    };
    json!({
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": { "name": name },
        "conditions": [{ "type": "Healthy", "status": healthy, "message": message }],
    })
}

/// The JSON of a status, and a line feed.
fn line(request: &Request<'_>, status: &Value) -> Bytes {
    let mut json = schema::encode(status, request.version.ty()).json;
    json.push(b'\n');
    json.into()
}
