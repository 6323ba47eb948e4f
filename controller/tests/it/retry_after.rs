//! Retries of requests, which depend on the server's `Retry-After`.

use crate::objects::{ACCOUNT, NAMESPACE};
use crate::setup::{client, server};
use fake_apiserver::On;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;

#[tokio::test]
async fn a_request_is_repeated_when_and_only_when_the_server_says_so() {
    for (code, retry_after_seconds, seen) in
        [(503, 1, vec![503, 404]), (429, 1, vec![429, 404]), (503, 0, vec![503]), (429, 0, vec![429])]
    {
        let server = server().await;
        server.faults().add(On::verb("get").status(code).retry_after(retry_after_seconds).times(1));
        let accounts: Api<ServiceAccount> = Api::namespaced(client(&server, "asker"), NAMESPACE);
        assert!(accounts.get(ACCOUNT).await.is_err(), "there is no such service account");
        let codes: Vec<_> = server.requests().iter().map(|record| record.code).collect();
        assert_eq!(codes, seen, "{code} with Retry-After {retry_after_seconds}");
    }
}
