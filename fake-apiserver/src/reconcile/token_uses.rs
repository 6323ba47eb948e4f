//! The day of a legacy token's last use, as a label of its secret. A key is `namespace/name/uid/day`.
//!
//! Upstream does that as it authenticates (`pkg/serviceaccount/legacy.go`, v1.37.1).

use super::client::Client;
use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::auth::LAST_USED_LABEL;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::ids;
use crate::store::Key;
use futures::FutureExt;
use futures::future::BoxFuture;

pub(super) struct TokenUses;

impl Reconciler for TokenUses {
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        let Event::Used(secret, day) = event else { return Vec::new() };
        vec![[meta::namespace(secret), meta::name(secret), meta::uid(secret), day].join("/").into()]
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        record(context, key).boxed()
    }
}

/// Labels the secret, unless it was replaced meanwhile.
async fn record(cluster: &Context<'_>, key: &str) -> ApiResult<()> {
    let [namespace, name, uid, day] = key.splitn(4, '/').collect::<Vec<_>>()[..] else {
        return Err(ApiError::internal("no use of a token"));
    };
    let catalog = cluster.catalog();
    let client = Client::of_server(cluster, catalog.registry.known(ids::SECRETS));
    let key = Key::new(ids::SECRETS, namespace, name);
    let recorded = client.change(&key, |old| {
        (meta::uid(old) == uid).then(|| {
            let mut object = old.clone();
            meta::set_label(&mut object, LAST_USED_LABEL, day);
            object
        })
    });
    if let Err(error) = recorded.await {
        tracing::error!(namespace, name, %error, "The use of a legacy token cannot be noted");
    }
    Ok(())
}
