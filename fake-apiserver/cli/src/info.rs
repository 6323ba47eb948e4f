//! The line of JSON that tells a wrapper in any language all it needs: where the server and its control port are, and what opens them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fake_apiserver::FakeApiServer;
use fake_apiserver_cli::control::Door;
use serde_json::{Value, json};

/// The line about a server, with its control port if it has one.
pub(crate) fn line(server: &FakeApiServer, door: Option<&Door>) -> Value {
    let replicas: Vec<String> = server.replicas().iter().map(|replica| replica.url()).collect();
    let mut line = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "server": server.url(),
        "replicas": replicas,
        "caData": server.ca_pem().map(|pem| STANDARD.encode(pem)),
        "token": server.admin_token(),
        "kubeconfig": server.kubeconfig(),
    });
    if let Some(door) = door {
        line["control"] = door.told();
    }
    line
}
