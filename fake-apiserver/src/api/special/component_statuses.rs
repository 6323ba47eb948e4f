//! Component statuses: the health of the parts of a control plane, probed at each read, and not stored.
//!
//! Follows `pkg/registry/core/componentstatus/{rest,validator}.go` and `pkg/probe/http/http.go` (v1.37.1). The store is this server's own;
//! the other two are asked at the ports of real ones.

use crate::api::request::options::ListOptions;
use crate::api::{Reply, Request};
use crate::error::{ApiError, ApiResult, Qualified};
use crate::object::selector::FieldSelector;
use crate::registry::text;
use crate::schema;
use crate::webhook::{Getter, Network};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tree::{Value, json};

/// The components and the ports of their `/healthz`; the store has none.
const COMPONENTS: [(&str, Option<u16>); 3] =
    [("scheduler", Some(10259)), ("controller-manager", Some(10257)), ("etcd-0", None)];

/// `probeTimeOut`.
const LIMIT: Duration = Duration::from_secs(20);
/// `maxRespBodyLength`.
const LONGEST: usize = 10 * 1024;

pub(crate) async fn get(request: &Request<'_>) -> ApiResult<Reply> {
    let component = COMPONENTS.into_iter().find(|(name, _)| *name == request.target.name);
    let resource = Qualified { group: "", resource: "componentstatus" };
    let component = component.ok_or_else(|| ApiError::not_found(resource, request.target.name))?;
    Ok(Reply::Other { code: 200, line: line(request, &status(component, &request.server.cluster.network).await) })
}

pub(crate) async fn list(request: &Request<'_>) -> ApiResult<Reply> {
    let options = ListOptions::parse(request.query, false)?;
    let fields = FieldSelector::parse(options.field_selector, &request.target.version.selectable)?;
    let mut lines = Vec::new();
    for component in COMPONENTS {
        let status = status(component, &request.server.cluster.network).await;
        let field = |name: &str| if name == "metadata.name" { text(&status, "/metadata/name") } else { "" };
        if options.label_selector.matches([]) && fields.matches(field) {
            lines.push(line(request, &status));
        }
    }
    Ok(Reply::Computed(lines))
}

/// The health of a component as it says itself.
async fn asked(port: u16, network: &Arc<Network>) -> (&'static str, String) {
    let url = format!("https://127.0.0.1:{port}/healthz");
    let getter = match Getter::unchecked(network) {
        Ok(getter) => getter,
        Err(why) => return ("False", why),
    };
    let late = || format!("Get {url:?}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
    let answer = timeout(LIMIT, getter.get(&url)).await.unwrap_or_else(|_| Err(late()));
    match answer {
        Ok(answer) => judged(answer.status, &answer.body),
        Err(why) => ("False", why),
    }
}

/// The health by an answer (`DoHTTPProbe`).
fn judged(status: u16, body: &[u8]) -> (&'static str, String) {
    let body = String::from_utf8_lossy(&body[..body.len().min(LONGEST)]);
    match status {
        200..300 => ("True", body.into_owned()),
        300..400 => ("Unknown", format!("Probe terminated redirects, Response body: {body}")),
        status => ("False", format!("HTTP probe failed with statuscode: {status}")),
    }
}

async fn status((name, port): (&str, Option<u16>), network: &Arc<Network>) -> Value {
    let (healthy, message) = match port {
        None => ("True", "ok".to_owned()),
        Some(port) => asked(port, network).await,
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
    let mut json = schema::encode(status, request.target.version.ty()).json;
    json.push(b'\n');
    json.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_judged_as_probes_are() {
        assert_eq!(judged(200, b"ok"), ("True", "ok".to_owned()));
        assert_eq!(judged(500, b"x"), ("False", "HTTP probe failed with statuscode: 500".to_owned()));
        assert_eq!(judged(304, b"x"), ("Unknown", "Probe terminated redirects, Response body: x".to_owned()));
    }
}
