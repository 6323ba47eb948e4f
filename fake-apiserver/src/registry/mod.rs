//! The served resources: their record from the real server, the rules that kinds have in Go, and the [`Registry`] in which
//! requests find them.

mod added;
mod cel;
mod compared;
mod context;
mod conversion;
mod converted_versions;
mod cursor;
mod custom;
mod declarative;
mod enabled;
mod fields;
pub mod ids;
mod kinds;
mod lookup;
pub(crate) mod managers;
mod parts;
mod record;
mod reset_fields;
mod resource;
mod rules;
mod stored_field;
mod undecodable;
mod webhook_conversion;

mod admission_registration;
mod api_services;
mod apps;
mod avoid_pods;
mod batch;
mod certificates;
mod columns;
mod component_statuses;
mod config_maps;
mod custom_resource_definitions;
mod custom_versions;
mod defaults;
mod dynamic_resources;
mod endpoint_slices;
mod endpoints;
mod events;
mod flow_control;
mod horizontal_pod_autoscalers;
mod leases;
mod limit_ranges;
mod namespaces;
mod networking;
mod nodes;
mod persistent_volume_claims;
mod persistent_volumes;
mod pod_disruption_budgets;
mod pod_templates;
mod pods;
mod priority_classes;
mod quantity;
mod rbac;
mod replication_controllers;
mod resource_quotas;
mod role_bindings;
mod roles;
mod runtime_classes;
mod scale_columns;
mod secrets;
mod service_accounts;
pub(crate) mod services;
mod storage;
mod storage_version_migrations;
mod subresources;
mod types;

pub(crate) use added::{ColumnDescription, FIRST_ADDED, is_added};
pub use added::{Description, VersionDescription};
pub(crate) use admission_registration::{EXCLUDED, STATIC, expressions};
pub use api_services::RemoteService;
pub(crate) use apps::selector_text as scale_selector;
pub(crate) use certificates::{request_der, requested_subject};
pub(crate) use compared::Compared;
pub use context::{Asked, Context, Permissions};
pub(crate) use custom::{ScalePaths, at_path, set_at_path};
pub(crate) use custom_resource_definitions::{Approval, approval_of, has_bad_certificates};
pub(crate) use enabled::enabled;
pub(crate) use fields::{at, carry_over, child, flag, items, number, strings, text};
use fields::{default_to, sync_first};
pub(crate) use flow_control::digests::{
    Distinguisher, FlowRule, FlowSchema, FlowSubjects, Names, PathFlow, PriorityLevel, Queuing, ResourceFlow,
};
pub use lookup::{Registry, Served};
pub use parts::{PrinterColumn, Str, Subresource};
pub(crate) use persistent_volume_claims::{CLASS_ANNOTATION, storage_class};
pub(crate) use pods::{MIRROR_POD_ANNOTATION, has_pod_level_resources, is_mirror_pod, quality_of_service, references};
pub(crate) use quantity::{MAX_MILLI_VALUE, Quantity, amount, is_whole};
pub use resource::{Findings, Resource, Version};
pub use role_bindings::{Binding, GROUP as RBAC_GROUP, Member, RoleRef, Stands, Subject};
pub use roles::{Role, Rule};
pub(crate) use rules::{Allocator, Closes, Encoding, Grants};
pub use rules::{RowCondition, Strategy};
pub(crate) use scale_columns::scale_columns;
pub(crate) use subresources::{Handler, Review, Stream};
pub use types::public_address_error;
pub(crate) use types::{
    Amounts, is_extended_resource, is_native_resource, is_pod_level_resource, of_containers,
    tolerations as check_tolerations,
};
pub(crate) use undecodable::Undecodable;
pub(crate) use webhook_conversion::Converter;
