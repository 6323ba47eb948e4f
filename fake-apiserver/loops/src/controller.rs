//! The controllers of kube-controller-manager by its names.
//!
//! The names are those of `cmd/kube-controller-manager/names/controller_names.go`, the aliases those of the descriptors in
//! `cmd/kube-controller-manager/app` (v1.37.1).

use crate::autoscaling::Autoscalers;
use crate::certificates::{Approver, Cleaner, Signer};
use crate::garbage::GarbageCollector;
use crate::lifecycle::{Eviction, Nodes};
use crate::migration::Migrator;
use crate::nodes::Book;
use crate::plan::Loop;
use crate::services::{EndpointsLoop, SlicesLoop};
use crate::tools::Tools;
use crate::upkeep::{ClaimProtection, Disruption, FinishedJobs, NodeTtl, Quotas, VolumeProtection};
use crate::volumes::{AttachDetach, Binder, Ephemeral, Expander};
use std::str::FromStr;

/// The table of the controllers: each with its name, the one before Kubernetes 1.27 if it had one, and whether `*` is about it.
macro_rules! controllers {
    ($($variant:ident $name:literal $alias:literal $usual:literal,)*) => {
        /// A controller of kube-controller-manager, or one of those beside it: the scheduler, and the kubelet by rule.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Controller {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Controller {
            /// All controllers.
            pub const ALL: &[Controller] = &[$(Controller::$variant,)*];

            /// The name since Kubernetes 1.27.
            pub fn name(self) -> &'static str {
                match self { $(Controller::$variant => $name,)* }
            }

            /// The name before 1.27, which is still accepted; empty if it is newer.
            pub fn alias(self) -> &'static str {
                match self { $(Controller::$variant => $alias,)* }
            }

            /// Whether `*` is about it.
            pub fn is_usual(self) -> bool {
                match self { $(Controller::$variant => $usual,)* }
            }
        }
    };
}

controllers! {
    ServiceAccountToken "serviceaccount-token-controller" "serviceaccount-token" true,
    Endpoints "endpoints-controller" "endpoint" true,
    EndpointSlice "endpointslice-controller" "endpointslice" true,
    EndpointSliceMirroring "endpointslice-mirroring-controller" "endpointslicemirroring" true,
    Replication "replicationcontroller-controller" "replicationcontroller" true,
    PodGarbageCollector "pod-garbage-collector-controller" "podgc" true,
    ResourceQuota "resourcequota-controller" "resourcequota" true,
    Namespace "namespace-controller" "namespace" true,
    ServiceAccount "serviceaccount-controller" "serviceaccount" true,
    GarbageCollector "garbage-collector-controller" "garbagecollector" true,
    DaemonSet "daemonset-controller" "daemonset" true,
    Job "job-controller" "job" true,
    Deployment "deployment-controller" "deployment" true,
    ReplicaSet "replicaset-controller" "replicaset" true,
    HorizontalPodAutoscaler "horizontal-pod-autoscaler-controller" "horizontalpodautoscaling" true,
    Disruption "disruption-controller" "disruption" true,
    StatefulSet "statefulset-controller" "statefulset" true,
    CronJob "cronjob-controller" "cronjob" true,
    CertificateSigning "certificatesigningrequest-signing-controller" "csrsigning" true,
    CertificateApproving "certificatesigningrequest-approving-controller" "csrapproving" true,
    CertificateCleaner "certificatesigningrequest-cleaner-controller" "csrcleaner" true,
    PodCertificateRequestCleaner "podcertificaterequest-cleaner-controller" "" true,
    Ttl "ttl-controller" "ttl" true,
    BootstrapSigner "bootstrap-signer-controller" "bootstrapsigner" false,
    TokenCleaner "token-cleaner-controller" "tokencleaner" false,
    NodeIpam "node-ipam-controller" "nodeipam" true,
    NodeLifecycle "node-lifecycle-controller" "nodelifecycle" true,
    TaintEviction "taint-eviction-controller" "" true,
    DeviceTaintEviction "device-taint-eviction-controller" "" true,
    PersistentVolumeBinder "persistentvolume-binder-controller" "persistentvolume-binder" true,
    AttachDetach "persistentvolume-attach-detach-controller" "attachdetach" true,
    PersistentVolumeExpander "persistentvolume-expander-controller" "persistentvolume-expander" true,
    ClusterRoleAggregation "clusterrole-aggregation-controller" "clusterrole-aggregation" true,
    PersistentVolumeClaimProtection "persistentvolumeclaim-protection-controller" "pvc-protection" true,
    PersistentVolumeProtection "persistentvolume-protection-controller" "pv-protection" true,
    PodGroupProtection "podgroup-protection-controller" "" true,
    TtlAfterFinished "ttl-after-finished-controller" "ttl-after-finished" true,
    RootCaPublisher "root-ca-certificate-publisher-controller" "root-ca-cert-publisher" true,
    ClusterTrustBundlePublisher "kube-apiserver-serving-clustertrustbundle-publisher-controller" "" true,
    EphemeralVolume "ephemeral-volume-controller" "ephemeral-volume" true,
    StorageVersionGarbageCollector "storageversion-garbage-collector-controller" "storage-version-gc" true,
    ResourceClaim "resourceclaim-controller" "resource-claim-controller" true,
    ResourcePoolStatusRequest "resourcepoolstatusrequest-controller" "" true,
    LegacyTokenCleaner "legacy-serviceaccount-token-cleaner-controller" "legacy-service-account-token-cleaner" true,
    ValidatingAdmissionPolicyStatus "validatingadmissionpolicy-status-controller" "" true,
    VolumeAttributesClassProtection "volumeattributesclass-protection-controller" "" true,
    ServiceCidr "service-cidr-controller" "" true,
    StorageVersionMigrator "storage-version-migrator-controller" "svm" true,
    SeLinuxWarning "selinux-warning-controller" "" false,
    Scheduler "kube-scheduler" "" false,
    Kubelet "kubelet" "" false,
}

impl Controller {
    /// The loop that does its work; `None` if no loop does.
    pub fn make(self, tools: &Tools) -> Option<Box<dyn Loop>> {
        Some(match self {
            Controller::StorageVersionMigrator => Box::<Migrator>::default(),
            Controller::PersistentVolumeClaimProtection => Box::<ClaimProtection>::default(),
            Controller::PersistentVolumeProtection => Box::<VolumeProtection>::default(),
            Controller::TtlAfterFinished => Box::<FinishedJobs>::default(),
            Controller::PersistentVolumeBinder => Box::<Binder>::default(),
            Controller::AttachDetach => Box::<AttachDetach>::default(),
            Controller::PersistentVolumeExpander => Box::<Expander>::default(),
            Controller::EphemeralVolume => Box::<Ephemeral>::default(),
            Controller::NodeLifecycle => Box::<Nodes>::default(),
            Controller::TaintEviction => Box::<Eviction>::default(),
            Controller::Ttl => Box::<NodeTtl>::default(),
            Controller::CertificateApproving => Box::new(Approver(tools.certificates.clone()?)),
            Controller::CertificateSigning => Box::new(Signer(tools.certificates.clone()?)),
            Controller::CertificateCleaner => Box::<Cleaner>::default(),
            Controller::ResourceQuota => Box::new(Quotas(tools.measure.clone()?)),
            Controller::Disruption => Box::<Disruption>::default(),
            Controller::Endpoints => Box::<EndpointsLoop>::default(),
            Controller::EndpointSlice => Box::<SlicesLoop>::default(),
            Controller::GarbageCollector => Box::<GarbageCollector>::default(),
            Controller::Replication => crate::workloads::replication_controllers(),
            Controller::DaemonSet => crate::workloads::daemon_sets(),
            Controller::StatefulSet => crate::workloads::stateful_sets(),
            Controller::CronJob => crate::workloads::cron_jobs(),
            Controller::Job => crate::workloads::jobs(),
            Controller::Deployment => crate::workloads::deployments(),
            Controller::ReplicaSet => crate::workloads::replica_sets(),
            Controller::HorizontalPodAutoscaler => Box::new(Autoscalers::new(Book::of(tools.pods.clone()))),
            Controller::Scheduler => crate::nodes::scheduler(),
            Controller::Kubelet => {
                let Tools { nodes, version, pods, stages, .. } = tools.clone();
                crate::nodes::kubelet(nodes, version, pods, stages)
            }
            _ => return None,
        })
    }

    /// Whether it is one of those beside kube-controller-manager, without which no pod runs.
    pub fn is_of_nodes(self) -> bool {
        matches!(self, Controller::Scheduler | Controller::Kubelet)
    }
}

/// The error for an unknown controller name, in kube-controller-manager's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not in the list of known controllers")]
pub struct UnknownController(String);

impl FromStr for Controller {
    type Err = UnknownController;

    fn from_str(name: &str) -> Result<Self, UnknownController> {
        let is_named =
            |controller: &&Controller| controller.name() == name || !name.is_empty() && controller.alias() == name;
        let found = Controller::ALL.iter().find(is_named);
        found.copied().ok_or_else(|| UnknownController(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_of_one_controller() {
        for controller in Controller::ALL {
            for name in [controller.name(), controller.alias()].into_iter().filter(|name| !name.is_empty()) {
                assert_eq!(name.parse(), Ok(*controller));
            }
            let names = controller.make(&Tools::default()).map(|made| (made.profile().name, made.profile().alias));
            assert!(names.is_none_or(|names| names == (controller.name(), controller.alias())), "{controller:?}");
        }
        let refused = "deployments".parse::<Controller>().map_err(|error| error.to_string());
        assert_eq!(refused, Err(r#""deployments" is not in the list of known controllers"#.into()));
        assert!("".parse::<Controller>().is_err());
    }
}
