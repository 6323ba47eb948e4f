//! The release of the addresses of removed services. A key is an address.

use super::event::Event;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::allocation::{Release, addresses_of};
use crate::error::ApiResult;
use crate::registry::ids;
use futures::FutureExt;
use futures::future::BoxFuture;

pub(super) struct Addresses;

impl Reconciler for Addresses {
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Removed(service) if service.key.resource == ids::SERVICES => {
                addresses_of(&service.object()).into_iter().map(Into::into).collect()
            }
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, address: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let catalog = context.catalog();
            Release::new(context.access(&catalog)).all(&[address.to_owned()]).await;
            Ok(())
        }
        .boxed()
    }
}
