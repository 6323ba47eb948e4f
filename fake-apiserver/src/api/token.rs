//! `POST serviceaccounts/{name}/token`: issues a token for the account; and what is remembered of legacy ones.

use super::decode::{self, Expected};
use super::draft::draft;
use super::{Reply, Request, admission, encode_reply};
use crate::auth::LAST_USED_LABEL;
use crate::cluster::Cluster;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::ids;
use crate::store::{Key, WriteError};
use serde_json::Value;

pub(crate) fn create(request: &mut Request<'_>) -> ApiResult<Reply> {
    let expected = Expected::named("authentication.k8s.io/v1", "TokenRequest")?;
    let (_, mut body) = decode::creation(request, &expected)?;
    admission::create(request, &mut body)?;
    admission::validate(request, &body, None)?;
    let cluster = request.cluster;
    let outcome = cluster.authenticator.token_request(
        request.namespace,
        request.name,
        body,
        request.now,
        cluster,
        &cluster.ids,
    )?;
    request.warnings.extend(outcome.notes.warnings);
    request.annotations.extend(outcome.notes.annotations);
    encode_reply(&expected, &outcome.response)
}

/// Labels the secret of a legacy token with the day of its last use, unless that secret was replaced meanwhile.
pub(crate) fn record_use(cluster: &Cluster, secret: &Value, day: &str) {
    if let Err(error) = label(cluster, secret, day) {
        tracing::error!(%error, "unable to record the last use of a token");
    }
}

fn label(cluster: &Cluster, secret: &Value, day: &str) -> ApiResult<()> {
    let catalog = cluster.catalog();
    let kind = catalog.registry.known(ids::SECRETS);
    let key = Key::new(kind.id, meta::namespace(secret), meta::name(secret));
    while let Some(entry) = cluster.store.get(&key).filter(|entry| *entry.meta.uid == *meta::uid(secret)) {
        let mut object = super::draft::tree(&entry)?;
        meta::set_label(&mut object, LAST_USED_LABEL, day);
        match cluster.store.update(draft(kind, kind.id, &object)?, entry.revision) {
            Err(WriteError::Modified(_)) => {}
            _ => break,
        }
    }
    Ok(())
}
