//! placeholder
use super::{Cluster, Power, Setup, Target};
use anyhow::{Result, bail};
use futures::future::BoxFuture;
/// The library.
pub struct Embedded;
impl Target for Embedded {
    fn name(&self) -> &'static str {
        "embedded"
    }
    fn powers(&self) -> &'static [Power] {
        &Power::ALL
    }
    fn start<'a>(&'a self, _: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>> {
        Box::pin(async { bail!("not yet") })
    }
}
