//! Tools of the server, which loops need beside objects.

use crate::nodes::Rules;
use crate::resource::Resource;
use jiff::Timestamp;
use std::sync::Arc;
use tree::{Map, Value};

/// The server, as loops need it.
#[derive(Clone, Default)]
pub struct Tools {
    /// Who measures what objects use; without it quotas have no status.
    pub measure: Option<Arc<dyn Measure>>,
    /// The nodes that there are; `node-1` if none is named.
    pub nodes: Vec<String>,
    /// The rules by which pods run.
    pub pods: Rules,
}

/// Measures what objects use of quotas.
pub trait Measure: Send + Sync {
    /// The amounts that objects of the quota's namespace use of the resources in its `spec.hard`, as far as these can be measured.
    fn used(&self, quota: &Value, objects: &mut dyn Iterator<Item = (&Resource, &Arc<Value>)>, now: Timestamp) -> Map;
}
