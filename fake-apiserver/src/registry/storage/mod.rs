//! The resources of `storage.k8s.io`: classes, CSI drivers, and the nodes, attachments and capacities of volumes.

mod attachments;
mod attributes_classes;
mod capacities;
mod classes;
mod csi_drivers;
mod csi_nodes;

pub(super) use attachments::RULES as VOLUME_ATTACHMENT;
pub(super) use attributes_classes::RULES as VOLUME_ATTRIBUTES_CLASS;
pub(super) use capacities::RULES as CSI_STORAGE_CAPACITY;
pub(super) use classes::RULES as STORAGE_CLASS;
pub(super) use csi_drivers::RULES as CSI_DRIVER;
pub(super) use csi_nodes::RULES as CSI_NODE;
