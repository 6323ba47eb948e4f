//! The probe of a server that extends this one: whether it answers, and what it serves.
//!
//! Follows `sync` of `pkg/controllers/status/remote/remote_available_controller.go`, and `fetchFreshDiscoveryForService` of
//! `pkg/apiserver/handler_discovery.go` of `k8s.io/kube-aggregator` (v0.37.1).

use super::shared::Shared;
use crate::aggregation::{Fetched, of_aggregated, of_index, of_resource_list};
use crate::discovery::Part;
use crate::registry::RemoteService;
use crate::schema::quote;
use crate::webhook::{Address, Backend};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty, Limited};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// The time for an answer.
const LIMIT: Duration = Duration::from_secs(5);
/// The longest document, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;
/// The user as whom it is asked, who may do everything.
const USER: (&str, &str) = ("system:kube-aggregator", "system:masters");
/// The preferred form (`AcceptV2`).
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Asks the server behind an API service what it serves.
///
/// # Errors
/// Why it is not available, in upstream's words.
pub(super) async fn probe(cluster: &Shared, remote: &RemoteService) -> Result<Option<Fetched>, String> {
    let backend = cluster.extensions.backend(&cluster.network, remote)?;
    let address = backend.address()?;
    let path = match &*remote.name {
        "v1." => format!("/api/{}", remote.version),
        _ => format!("/apis/{}/{}", remote.group, remote.version),
    };
    let url = format!("https://{}{path}", address.authority());
    let failed = |why: String| format!("failing or missing response from {url}: {why}");
    let (status, own) = match get(&backend, &address, &path, "").await {
        Err(why) => return Err(failed(format!("Get {}: {why}", quote(&url)))),
        Ok(answer) => answer,
    };
    if !(200..300).contains(&status) {
        return Err(failed(format!("bad status from {url}: {status}")));
    }
    let all = get(&backend, &address, "/apis", AGGREGATED).await;
    let aggregated = all.ok().filter(|(status, _)| *status == 200);
    let aggregated = aggregated.and_then(|(_, list)| of_aggregated(&list, &remote.group, &remote.version));
    let found = aggregated.or_else(|| of_resource_list(&own));
    let index = get(&backend, &address, "/openapi/v3", "").await.ok().filter(|(status, _)| *status == 200);
    let openapi = index.and_then(|(_, index)| of_index(&index, path.trim_start_matches('/')));
    let whole = get(&backend, &address, "/openapi/v2", "").await.ok().filter(|(status, _)| *status == 200);
    let part = match whole {
        Some((_, whole)) => spawn_blocking(move || Part::of(&whole, &format!("{path}/"))).await.ok().flatten(),
        None => None,
    };
    Ok(found.map(|found| Fetched { openapi, part: part.map(Arc::new), ..found }))
}

/// The status and the body of an answer.
async fn get(backend: &Backend, address: &Address, path: &str, accept: &str) -> Result<(u16, Bytes), String> {
    let accept = if accept.is_empty() { "application/json" } else { accept };
    let request = Request::get(path)
        .header("host", address.authority())
        .header("x-remote-user", USER.0)
        .header("x-remote-group", USER.1)
        .header("user-agent", "Go-http-client/1.1")
        .header("accept", accept)
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = async {
        let mut sender = backend.connect(address).await?;
        let response = sender.send_request(request).await.map_err(|error| match error.is_incomplete_message() {
            true => "EOF".to_owned(),
            false => error.to_string(),
        })?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), LONGEST).collect().await.map_err(|error| error.to_string())?;
        Ok((status, body.to_bytes()))
    };
    let late = || Err("context deadline exceeded (Client.Timeout exceeded while awaiting headers)".to_owned());
    timeout(LIMIT, answer).await.unwrap_or_else(|_| late())
}
