//! The config map that tells API servers which extend this one how clients are authenticated: the authorities of their certificates and of
//! those of front proxies, and the headers of these. Without such authorities there is none.
//!
//! Follows `pkg/controlplane/controller/clusterauthenticationtrust` (v1.37.1), which looks every minute, and leaves out expired
//! certificates.

use super::client::Client;
use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::{Shared, Trusted};
use crate::error::ApiResult;
use crate::registry::ids;
use crate::store::Key;
use crate::x509::Pool;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::fmt::Write;
use tree::{Value, json};

const NAMESPACE: &str = "kube-system";
/// `configMapName`.
const NAME: &str = "extension-apiserver-authentication";
const AUTHORITIES: &str = "client-ca-file";
const PROXIES: &str = "requestheader-client-ca-file";
const UID_HEADERS: &str = "requestheader-uid-headers";
/// The fields with the lists about front proxies.
const LISTS: [&str; 5] = [
    "requestheader-username-headers",
    UID_HEADERS,
    "requestheader-group-headers",
    "requestheader-extra-headers-prefix",
    "requestheader-allowed-names",
];
/// The length of a line of base 64 in PEM.
const LINE: usize = 64;

pub(super) struct ClientAuthorities;

impl Reconciler for ClientAuthorities {
    /// One key stands for the config map.
    fn wants(&self, event: &Event<'_>, cluster: &Shared) -> Vec<Box<str>> {
        let is_about =
            |key: &Key| key.resource == ids::CONFIG_MAPS && key.name() == NAME && key.namespace() == NAMESPACE;
        match event {
            _ if !cluster.options.trusted.has_any() => Vec::new(),
            Event::Start => vec!["".into()],
            Event::Stored(entry, _) | Event::Removed(entry) if is_about(&entry.key) => vec!["".into()],
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, _: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        sync(context).boxed()
    }
}

/// Creates the config map, or adds what it lacks.
async fn sync(cluster: &Context<'_>) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let client = Client::of_server(cluster, catalog.registry.known(ids::CONFIG_MAPS));
    let own = &cluster.options.trusted;
    let key = Key::new(ids::CONFIG_MAPS, NAMESPACE, NAME);
    let exists = client.change(&key, |old| {
        // As upstream, a text there that cannot be read as a list stays.
        let data = data(own, &old["data"]).filter(|data| *data != old["data"])?;
        let mut new = old.clone();
        new["data"] = data;
        Some(new)
    });
    if !exists.await? {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": data(own, &Value::Null).expect("nothing is well-formed"),
        });
        return client.create(object).await;
    }
    Ok(())
}

/// The data with what is there already before the own (`getConfigMapDataFor`); `None`, if that cannot be read.
fn data(own: &Trusted, known: &Value) -> Option<Value> {
    let authorities = |field: &str, own: &Pool| {
        let known = Pool::from_pem(known[field].as_str().unwrap_or_default().as_bytes());
        pem(&[&known, own])
    };
    let mut data = json!({});
    let (clients, proxies) = (authorities(AUTHORITIES, &own.clients), authorities(PROXIES, &own.proxies));
    if !clients.is_empty() {
        data[AUTHORITIES] = clients.into();
    }
    let mut lists = Vec::new();
    for (field, own) in LISTS.into_iter().zip(&own.lists) {
        lists.push((field, combined(known[field].as_str().unwrap_or_default(), own)?));
    }
    if !proxies.is_empty() {
        data[PROXIES] = proxies.into();
        for (field, list) in lists.into_iter().filter(|(field, list)| *field != UID_HEADERS || !list.is_empty()) {
            data[field] = serde_json::to_string(&list).expect("texts can be encoded").into();
        }
    }
    Some(data)
}

/// The items of a list in JSON and others, each once.
fn combined(known: &str, own: &[String]) -> Option<Vec<String>> {
    let known: Vec<String> = if known.is_empty() { Vec::new() } else { serde_json::from_str(known).ok()? };
    let mut all: Vec<String> = Vec::new();
    for item in known.iter().chain(own) {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    Some(all)
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
