//! Rules by Go type: defaults and validation of a `PodSpec`, a `Container` or a `Volume`, wherever one stands.
//!
//! A rule takes the path of its value, the value, and where findings go; kinds put rules together.

mod access_modes;
mod affinity;
mod all_containers;
mod amounts;
mod condition;
mod container;
mod container_port;
mod container_restart;
mod container_warnings;
mod csi_driver_name;
mod disabled_fields;
mod dns;
mod endpoint_address;
mod env_var;
mod ephemeral_container;
mod field_selector;
mod file;
mod holder;
mod image;
mod int_or_string;
mod label_keys;
mod load_balancer;
mod node_label;
mod object_meta;
mod operating_system;
mod persistent_volume_claim;
mod persistent_volume_source;
mod persistent_volume_spec;
mod pod_annotations;
mod pod_resource_claim;
mod pod_resources;
mod pod_spec;
mod pod_spec_defaults;
mod pod_template_spec;
mod pod_warnings;
mod probe;
mod projected_certificates;
mod projected_volume;
mod resource_list;
mod resource_name;
mod resource_requirements;
mod security_context;
mod security_profile;
mod signer_name;
mod toleration;
mod topology_spread_constraint;
mod volume;
mod volume_mount;
mod volume_source;
mod volume_warnings;
mod webhook_client;
mod windows_options;

pub(super) use super::defaults::visit;
pub(super) use affinity::node_selector;
pub(crate) use amounts::{Amounts, of_containers};
pub(super) use condition::conditions;
pub(super) use container::trimmed_image;
pub(super) use container_port::{port_name, port_number};
pub(super) use container_warnings::{APP_ARMOR, app_armor_of_annotation};
pub(super) use csi_driver_name::csi_driver_name;
pub(super) use disabled_fields::{drop_disabled_fields, drop_disabled_template_fields};
pub(super) use dns::ip;
pub(super) use endpoint_address::endpoint_ip;
pub use endpoint_address::public_address_error;
pub(super) use holder::Holder;
pub(super) use int_or_string::{at_most_all, int_or_percent, positive_or_percent};
pub(super) use load_balancer::{load_balancer_address, load_balancer_hostname, load_balancer_warnings};
pub(super) use node_label::{deprecation, node_selector_term_warnings};
pub(super) use object_meta::{labels, template_metadata};
pub(super) use persistent_volume_claim::{
    default_persistent_volume_claim, persistent_volume_claim_spec, persistent_volume_claim_spec_warnings,
};
pub(super) use persistent_volume_source::persistent_volume_sources;
pub(super) use persistent_volume_spec::{basic_resource, inline_persistent_volume_spec, persistent_volume_spec};
pub(super) use pod_annotations::pod_annotations;
pub(super) use pod_spec::pod_spec;
pub(super) use pod_spec_defaults::{default_pod_spec, default_volume_source};
pub(super) use pod_template_spec::{default_pod_template_spec, pod_template_spec};
pub(super) use pod_warnings::pod_warnings;
pub(super) use projected_volume::no_tokens;
pub(super) use resource_list::round_resources;
pub(super) use resource_name::{
    container_resource_name, is_shared_resource, is_standard_for_quota, quota_resource_name, resource_name,
    resource_value,
};
pub(crate) use resource_name::{is_extended_resource, is_native_resource, is_pod_level_resource};
pub(super) use resource_requirements::overhead;
pub(super) use signer_name::{is_kubernetes_signer, signer_name};
pub(crate) use toleration::check_tolerations;
pub(super) use toleration::tolerations;
pub(super) use webhook_client::{REVIEWS, is_known_review, review_versions, webhook_client};
