//! Attempts of authentication and authorization, and webhooks that authorize, are counted as they are by a real kube-apiserver (v1.37.1), whose
//! lines these are, without sums and the numbers in buckets.

use crate::support::*;
use fake_apiserver::{AuthorizationOptions, FakeApiServer};
use serde_json::json;
use std::fs;

/// Writes the file with the authorizers, and the kubeconfig of a webhook that nobody is behind.
fn authorizers(folder: &std::path::Path) -> AuthorizationOptions {
    let (kubeconfig, file) = (folder.join("hook"), folder.join("authorization"));
    let hook = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "hook",
        "clusters": [{"name": "hook", "cluster": {"server": "https://127.0.0.1:1/authorize"}}],
        "contexts": [{"name": "hook", "context": {"cluster": "hook"}}],
    });
    let webhook = json!({
        "timeout": "1s", "cacheAuthorizedRequests": false, "cacheUnauthorizedRequests": false,
        "subjectAccessReviewVersion": "v1", "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": "NoOpinion",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": kubeconfig},
        "matchConditions": [
            {"expression": "request.user != 'bob'"},
            {"expression": "request.user != 'eve' || request.groups[99] == 'x'"},
        ],
    });
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration",
        "authorizers": [{"type": "RBAC", "name": "rbac"}, {"type": "Webhook", "name": "hook", "webhook": webhook}],
    });
    fs::write(kubeconfig, hook.to_string()).expect("a file");
    fs::write(&file, configuration.to_string()).expect("a file");
    let mut options = AuthorizationOptions::default();
    options.config_file = Some(file);
    options
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_and_calls_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let users = ["bob", "eve", "ann"];
    let builder = FakeApiServer::builder().authorization(authorizers(folder.path()));
    let builder = users.iter().fold(builder, |builder, user| builder.add_static_token(user, user, &[]));
    let server = builder.start().await.expect("a server");
    for (token, code) in users.into_iter().chain(["nobody"]).zip([403, 500, 500, 401]) {
        let mut client = Client::new(&server).await;
        client.token = token.into();
        assert_eq!(client.get("/api/v1/namespaces").await.code, code, "{token}");
    }
    let answer = Client::new(&server).await.get("/metrics").await;
    let expected = include_str!("user_metrics.txt");
    let families = |text: &str| -> Vec<String> {
        let helps = text.lines().filter_map(|line| line.strip_prefix("# HELP "));
        helps.map(|help| help.split(' ').next().unwrap_or_default().to_owned()).collect()
    };
    let known = families(expected);
    let is_known = |line: &&str| {
        let name = line.trim_start_matches("# HELP ").trim_start_matches("# TYPE ");
        let name = name.split([' ', '{']).next().unwrap_or_default();
        let whole = ["_bucket", "_sum", "_count"].into_iter().find_map(|part| name.strip_suffix(part));
        known.iter().any(|family| family == name || whole == Some(family))
    };
    let shown = |line: &str| match line.contains("_bucket{") || line.contains("_sum{") {
        true => line.rsplit_once(' ').map_or(line, |(name, _)| name).to_owned(),
        false => line.to_owned(),
    };
    let told: Vec<String> = answer.text().lines().filter(is_known).map(shown).collect();
    assert_eq!(told.join("\n"), expected.trim_end());
}
