//! The kubelet's half of service account credentials, as an ordinary client of any API server.
//!
//! It has the caches of secrets and config maps ([`objects`]) and of tokens ([`tokens`]); the files ([`volumes`]),
//! environment variables ([`env`](mod@env)) and registry credentials ([`pull_secrets`]) that containers get from them; and
//! a node ([`node`]) that makes the volumes of its pods, which the binary `kubelet-volumes` runs. It needs Unix, for the
//! owners and modes of files.
//!
//! The Go files that the modules follow:
//!
//! | Go file | version | module |
//! |---|---|---|
//! | kubernetes `pkg/kubelet/util/manager/`, `secret/`, `configmap/` | v1.37.1 | [`objects`] |
//! | kubernetes `pkg/kubelet/token/token_manager.go` | v1.37.1 | [`tokens`] |
//! | kubernetes `pkg/volume/{secret,configmap,downwardapi,projected}/`, `util/atomic_writer.go`, `volume_linux.go` | v1.37.1 | [`volumes`] |
//! | kubernetes `pkg/fieldpath/fieldpath.go` | v1.37.1 | [`field_path`] |
//! | kubernetes `pkg/api/v1/resource/helpers.go` | v1.37.1 | [`resources`] |
//! | kubernetes `pkg/kubelet/kubelet_pods.go`, `envvars/envvars.go`, `third_party/forked/golang/expansion/` | v1.37.1 | [`env`](mod@env) |
//! | kubernetes `pkg/credentialprovider/config.go`, `secrets/secrets.go` | v1.37.1 | [`pull_secrets`] |
//! | client-go `tools/record/event.go`, `events_cache.go` | v0.37.1 | [`node`] |

#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod client;
pub mod clock;
mod containers;
pub mod env;
pub mod field_path;
pub mod flags;
pub mod node;
pub mod objects;
pub mod pull_secrets;
pub mod resources;
pub mod tokens;
pub mod volumes;
