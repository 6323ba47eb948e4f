//! The config map that tells API servers which extend this one how clients are authenticated: the authorities of their certificates.
//! Without such authorities there is none.
//!
//! Follows `pkg/controlplane/controller/clusterauthenticationtrust` (v1.37.1), which looks every minute, and leaves out expired
//! certificates; there is no authenticating proxy.

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::clock::format_seconds;
use crate::commit::server::{self, MANAGER};
use crate::commit::{Change, draft};
use crate::error::ApiResult;
use crate::registry::managers::Writer;
use crate::registry::{ids, text};
use crate::store::Key;
use crate::x509::Pool;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::fmt::Write;
use tree::json;

const NAMESPACE: &str = "kube-system";
/// `configMapName`.
const NAME: &str = "extension-apiserver-authentication";
const AUTHORITIES: &str = "client-ca-file";
/// The length of a line of base 64 in PEM.
const LINE: usize = 64;

pub(super) struct ClientAuthorities;

impl Reconciler for ClientAuthorities {
    /// One key stands for the config map.
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>> {
        let is_about =
            |key: &Key| key.resource == ids::CONFIG_MAPS && key.name() == NAME && key.namespace() == NAMESPACE;
        match event {
            _ if cluster.options.client_authorities.certificates().is_empty() => Vec::new(),
            Event::Start => vec!["".into()],
            Event::Stored(entry, _) | Event::Removed(entry) if is_about(&entry.key) => vec!["".into()],
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, _: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        sync(context).boxed()
    }
}

/// Creates the config map, or adds the authorities that it lacks.
async fn sync(cluster: &Context<'_>) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let (resource, time) = (catalog.registry.known(ids::CONFIG_MAPS), format_seconds(cluster.now));
    let own = &cluster.options.client_authorities;
    let key = Key::new(resource.id, NAMESPACE, NAME);
    let changed = cluster.commits.change(&key, |entry| {
        let old = entry.object();
        let mut new = old.clone();
        let known = Pool::from_pem(text(&old, "/data/client-ca-file").as_bytes());
        new["data"][AUTHORITIES] = pem(&[&known, own]).into();
        if new == old {
            return Ok((Change::Leave, ()));
        }
        resource.track(Writer { manager: MANAGER, subresource: "", now: &time }, Some(&old), &mut new);
        Ok((Change::Put(draft(resource, &new)?), ()))
    });
    if changed.await?.is_none() {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": {AUTHORITIES: pem(&[own])},
        });
        let draft = server::created(resource, object, &cluster.store, &cluster.ids, cluster.now)?;
        cluster.commits.create(draft, None).await.ok();
    }
    Ok(())
}

/// The certificates as PEM, each once.
fn pem(pools: &[&Pool]) -> String {
    let mut text = String::new();
    let mut known = Vec::new();
    for der in pools.iter().flat_map(|pool| pool.certificates()).filter(|der| !der.is_empty()) {
        if known.contains(&der) {
            continue;
        }
        known.push(der);
        text += "-----BEGIN CERTIFICATE-----\n";
        let encoded = STANDARD.encode(der);
        for at in (0..encoded.len()).step_by(LINE) {
            writeln!(text, "{}", &encoded[at..encoded.len().min(at + LINE)]).expect("writing to a String cannot fail");
        }
        text += "-----END CERTIFICATE-----\n";
    }
    text
}
