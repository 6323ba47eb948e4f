//! A request for a served resource: its parts, and decoding them.

pub(super) mod audited;
pub(crate) mod decode;
pub(crate) mod empty_lists;
mod identity;
pub(crate) mod media;
mod mime;
pub(crate) mod options;
pub(crate) mod query;

pub(crate) use identity::{check_identity, ensure_namespace, undeterminable_name};
pub(crate) use query::Query;

use super::act::Act;
use crate::audit::Audited;
use bytes::Bytes;
use std::ops::{Deref, DerefMut};

/// The complete body of a request.
pub(crate) struct Body<'r> {
    /// The `Content-Type` header, or "".
    pub(crate) content_type: &'r str,
    pub(crate) bytes: Bytes,
}

/// The parts of a request that matter only if it is forwarded to another server.
#[derive(Debug)]
pub(crate) struct Forward<'r> {
    /// Its path, without escapes.
    pub(crate) path: &'r str,
    /// Its query, as it was sent.
    pub(crate) query: &'r str,
    /// Whether nothing follows the subresource in its path, not even a slash.
    pub(crate) is_root: bool,
    /// Whether it asks for another protocol (`IsUpgradeRequest`).
    pub(crate) upgrades: bool,
    /// The protocol that it asks for.
    pub(crate) upgrade: &'r str,
    /// The protocols within WebSocket that it offers, separated by commas.
    pub(crate) offered: &'r str,
}

/// A request for a served resource: routed, authenticated and authorized.
pub(crate) struct Request<'r> {
    /// The act that it asks for.
    pub(crate) act: Act<'r>,
    pub(crate) query: &'r Query<'r>,
    /// Set if its handler connects. Boxed, for it is rare.
    pub(crate) forward: Option<Box<Forward<'r>>>,
    pub(crate) body: Body<'r>,
    /// The audit of the request; `None` if there is none.
    pub(crate) audited: Option<&'r mut Audited>,
}

impl<'r> Deref for Request<'r> {
    type Target = Act<'r>;

    fn deref(&self) -> &Act<'r> {
        &self.act
    }
}

impl DerefMut for Request<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.act
    }
}

impl<'r> Request<'r> {
    /// The parts that matter if it is forwarded.
    ///
    /// # Panics
    /// If its handler does not connect.
    pub(super) fn forward(&self) -> &Forward<'r> {
        self.forward.as_ref().expect("a request whose handler connects has them")
    }
}
