//! A server within a test: start it, give its client to the code under test, check the objects.

use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, PostParams};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = FakeApiServer::builder().record_requests(true).start().await?;
    let api: Api<ConfigMap> = Api::namespaced(server.client(), "default");

    code_under_test(&api).await?;

    assert_eq!(api.get("settings").await?.data.unwrap_or_default()["colour"], "blue");
    assert_eq!(server.requests()[0].verb, "create");
    println!("{} was asked {} times", server.url(), server.requests().len());
    server.shutdown().await;
    Ok(())
}

async fn code_under_test(api: &Api<ConfigMap>) -> kube::Result<ConfigMap> {
    let settings = serde_json::from_value(serde_json::json!({
        "metadata": {"name": "settings"}, "data": {"colour": "blue"},
    }));
    api.create(&PostParams::default(), &settings.map_err(kube::Error::SerdeError)?).await
}
