//! The webhook that a kubeconfig names: the server of its current context.
//!
//! Follows `LoadKubeconfig` of `pkg/util/webhook/webhook.go` of `k8s.io/apiserver`, and `tools/clientcmd/{client_config,validation}.go` and
//! `rest/{client,url_utils}.go` of `k8s.io/client-go` (v0.37.1).
//!
//! GAP: auditing: proxies to the webhook, and credentials for it that a program makes

use super::client_certificate::ClientCertificate;
use super::credentials::Credentials;
use super::headers::Headers;
use super::target::Target;
use super::transport::Key;
use super::url::Url;
use crate::files;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;
use tree::Value;

/// The error of a kubeconfig without a server.
const EMPTY: &str =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

/// The facts about a webhook that a client has to know.
pub(super) struct Cluster {
    pub(super) target: Target,
    pub(super) headers: Headers,
    pub(super) key: Key,
}

impl Cluster {
    /// The server and the user of the current context of a decoded kubeconfig, the paths in which begin at that folder.
    ///
    /// # Errors
    /// If it names none, or their certificates and credentials cannot be read or are not supported.
    pub(super) fn of(kubeconfig: &Value, folder: &Path) -> Result<Cluster, String> {
        let name = text(kubeconfig, "current-context");
        let context = named(kubeconfig, "contexts", name).map(|context| &context["context"]);
        if context.is_none() && !name.is_empty() {
            return Err(format!(
                "invalid configuration: [context was not found for specified context: {name}, cluster has no server defined]"
            ));
        }
        let (cluster_name, user_name) =
            context.map_or(("", ""), |context| (text(context, "cluster"), text(context, "user")));
        let known = |list: &str, what: &str, name: &str| match named(kubeconfig, list, name) {
            None if !name.is_empty() => Err(format!("{what} {name:?} does not exist")),
            found => Ok(found),
        };
        let credentials = Credentials::of(kubeconfig, folder)?;
        known("users", "auth info", user_name)?;
        let cluster = known("clusters", "cluster", cluster_name)?.map(|cluster| &cluster["cluster"]);
        let cluster = cluster.ok_or(EMPTY)?;
        let server = text(cluster, "server");
        if server.is_empty() {
            return Err(format!("invalid configuration: no server found for cluster {cluster_name:?}"));
        }
        if !text(cluster, "proxy-url").is_empty() {
            return Err(format!("fake-apiserver does not support proxy-url, which the cluster {cluster_name:?} has"));
        }
        let url = url(server)?;
        // Without TLS nobody is told who asks.
        let user = credentials.current().filter(|_| url.is_secure);
        let key = Key {
            bundle: bundle(cluster, cluster_name, folder)?,
            is_unchecked: cluster["insecure-skip-tls-verify"].as_bool().unwrap_or_default(),
            certificate: user.map(ClientCertificate::of).transpose()?.flatten(),
            server_name: Some(text(cluster, "tls-server-name").to_owned()).filter(|name| !name.is_empty()),
            is_local: true,
        };
        if key.is_unchecked && !key.bundle.is_empty() {
            return Err("specifying a root certificates file with the insecure flag is not allowed".into());
        }
        let headers = user.map(Headers::of).transpose()?.unwrap_or_default();
        Ok(Cluster { target: Target { url, service: None }, headers, key })
    }
}

/// The URL of a server, which may be a host alone (`DefaultServerURL`).
fn url(server: &str) -> Result<Url, String> {
    let full = if server.contains("://") { server.to_owned() } else { format!("http://{server}") };
    let url = Url::parse(&full)?;
    let path = url.path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').to_owned();
    if full != server && !path.is_empty() {
        return Err(format!("host must be a URL or a host:port pair: {server:?}"));
    }
    Ok(Url { path: if path.is_empty() { "/".into() } else { path }, ..url })
}

/// The certificates that vouch for a server, as PEM.
fn bundle(cluster: &Value, name: &str, folder: &Path) -> Result<Vec<u8>, String> {
    let (file, data) = (text(cluster, "certificate-authority"), text(cluster, "certificate-authority-data"));
    if !file.is_empty() && !data.is_empty() {
        return Err(format!(
            "invalid configuration: certificate-authority-data and certificate-authority are both specified for {name}. \
             certificate-authority-data will override."
        ));
    }
    if file.is_empty() {
        return Ok(STANDARD.decode(data).unwrap_or_default());
    }
    let path = folder.join(file);
    let unread = |why| {
        format!(
            "invalid configuration: unable to read certificate-authority {} for {name} due to {why}",
            path.display()
        )
    };
    files::read(&path).map_err(unread)
}

/// The item of a list with that name.
fn named<'k>(kubeconfig: &'k Value, list: &str, name: &str) -> Option<&'k Value> {
    kubeconfig[list].as_array().into_iter().flatten().find(|item| !name.is_empty() && item["name"] == name)
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    /// The URL of the server of such a kubeconfig, and whether its certificate is not checked; or the error.
    fn found(kubeconfig: &Value) -> String {
        match Cluster::of(kubeconfig, Path::new("/folder")) {
            Ok(cluster) => format!("{} {}", cluster.target.url, cluster.key.is_unchecked),
            Err(why) => why,
        }
    }

    fn with(cluster: Value) -> Value {
        json!({
            "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}], "current-context": "x",
        })
    }

    #[test]
    fn the_server_of_the_current_context_is_called() {
        for (cluster, expected) in [
            (json!({"server": "https://a:84/x/?y"}), "https://a:84/x false"),
            (json!({"server": "http://a"}), "http://a/ false"),
            (json!({"server": "a:84"}), "http://a:84/ false"),
            (json!({"server": "a:84/x"}), "host must be a URL or a host:port pair: \"a:84/x\""),
            (json!({"server": "https://a", "insecure-skip-tls-verify": true}), "https://a/ true"),
            (json!({}), "invalid configuration: no server found for cluster \"c\""),
            (
                json!({"server": "https://a", "certificate-authority": "none"}),
                "invalid configuration: unable to read certificate-authority /folder/none for c due to open /folder/none: no such file or directory",
            ),
            (
                json!({"server": "https://a", "proxy-url": "http://b"}),
                "fake-apiserver does not support proxy-url, which the cluster \"c\" has",
            ),
        ] {
            assert_eq!(found(&with(cluster.clone())), expected, "{cluster}");
        }
        assert_eq!(found(&json!({})), EMPTY);
        let change = |path: &str, to: &str| {
            let mut changed = with(json!({"server": "https://a"}));
            *changed.pointer_mut(path).unwrap() = to.into();
            found(&changed)
        };
        assert_eq!(
            change("/current-context", "z"),
            "invalid configuration: [context was not found for specified context: z, cluster has no server defined]"
        );
        assert_eq!(change("/contexts/0/context/cluster", "z"), "cluster \"z\" does not exist");
        assert_eq!(change("/contexts/0/context/user", "z"), "auth info \"z\" does not exist");
    }

    #[test]
    fn users_are_known_only_to_servers_with_tls() {
        let headers = |server: &str| Cluster::of(&with(json!({"server": server})), Path::new("/")).unwrap().headers;
        assert_eq!(headers("https://a").current().unwrap().len(), 1);
        assert_eq!(headers("http://a").current().unwrap().len(), 0);
    }
}
