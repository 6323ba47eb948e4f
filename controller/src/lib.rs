//! Ported parts of Kubernetes that run as ordinary clients of any API server.
//!
//! These are controllers of service accounts and the parts of client-go that they use, with the binary `controller-manager` that
//! runs them as kube-controller-manager would ([`manager`]):
//!
//! * [`controllers::service_accounts`] creates the service account `default` in every namespace.
//! * [`controllers::tokens`] creates, fills and deletes token secrets.
//! * [`controllers::legacy_token_cleaner`] deletes token secrets that have not been used for long.
//! * [`controllers::root_ca`] publishes the API server's certificate authority in every namespace.
//!
//! The Go files that the modules follow:
//!
//! | Go file | version | module |
//! |---|---|---|
//! | kubernetes `pkg/controller/serviceaccount/tokens_controller.go` | v1.24.17 (its option covers v1.23), v1.37.1 | [`controllers::tokens`] |
//! | kubernetes `pkg/controller/serviceaccount/serviceaccounts_controller.go` | v1.37.1 | [`controllers::service_accounts`] |
//! | kubernetes `pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go` | v1.37.1 | [`controllers::legacy_token_cleaner`] |
//! | kubernetes `pkg/controller/certificates/rootcacertpublisher/publisher.go` | v1.37.1 | [`controllers::root_ca`] |
//! | kubernetes `pkg/serviceaccount/legacy.go` | v1.24.17 | [`controllers::tokens::LegacyClaims`] |
//! | kubernetes `pkg/serviceaccount/jwt.go` | v1.37.1 | [`keys`] |
//! | kubernetes `cmd/kube-controller-manager/app/controllermanager.go`, `service_accounts.go`, `core.go`, `certificates.go` | v1.37.1 | [`manager`], [`manager::catalogue`] |
//! | kubernetes `pkg/api/v1/pod/util.go` | v1.37.1 | [`pods`] |
//! | apiserver `pkg/authentication/serviceaccount/util.go` | v0.24.17 | [`controllers::tokens`] |
//! | apiserver `pkg/storage/names/generate.go` | v0.24.17 | [`controllers::tokens`] |
//! | apimachinery `pkg/api/errors/errors.go` | v0.37.1 | [`client_go::api_errors`] |
//! | apimachinery `pkg/util/wait/backoff.go` | v0.37.1 | [`client_go::retry`] |
//! | apimachinery `pkg/util/cache/lruexpirecache.go` | v0.37.1 | [`client_go::mutation_cache`] |
//! | client-go `util/retry/util.go` | v0.37.1 | [`client_go::retry`] |
//! | client-go `util/workqueue/queue.go`, `delaying_queue.go`, `rate_limiting_queue.go` | v0.37.1 | [`client_go::workqueue`] |
//! | client-go `util/workqueue/default_rate_limiters.go` | v0.37.1 | [`client_go::workqueue::rate_limit`] |
//! | client-go `tools/cache/shared_informer.go`, `delta_fifo.go`, `store.go` | v0.37.1 | [`client_go::informer`] |
//! | client-go `tools/cache/mutation_cache.go` | v0.37.1 | [`client_go::mutation_cache`] |
//! | client-go `tools/leaderelection/leaderelection.go`, `resourcelock/leaselock.go` | v0.37.1 | [`client_go::leader_election`] |
//! | client-go `tools/leaderelection/healthzadaptor.go`, component-base `metrics/prometheus/clientgo/leaderelection` | v0.37.1 | [`client_go::leader_status`] |
//! | client-go `util/workqueue/metrics.go`, component-base `metrics/prometheus/workqueue` | v0.37.1 | [`client_go::workqueue::metrics`] |
//! | client-go `util/keyutil/key.go`, `util/cert/pem.go` | v0.37.1 | [`keys`] |
//! | client-go `rest/with_retry.go` | v0.37.1 | [`client_go::client`] |
//! | client-go `rest/request.go` | v0.37.1 | [`client_go::objects`] |
//! | controller-manager `options/generic.go`, `app/helper.go`, `app/serve.go` | v0.37.1 | [`manager`] |

#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod client_go;
pub mod clock;
pub mod controller;
pub mod controllers;
pub mod keys;
pub mod manager;
pub mod pods;
pub mod program;
pub mod worker;
