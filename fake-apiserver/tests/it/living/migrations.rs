//! Storage version migrations that meet something unusual; the usual ones are scenarios.

use super::{Client, create, owned, pass, quiet};
use crate::support::CONFIG_MAPS;
use fake_apiserver::{Controller, FakeApiServer, ManualClock};
use serde_json::{Value, json};

const MIGRATIONS: &str = "/apis/storagemigration.k8s.io/v1/storageversionmigrations";

async fn cluster() -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().controllers([Controller::StorageVersionMigrator]).clock(clock);
    let server = builder.record_requests(true).insecure().start().await.expect("a server starts");
    let client = Client::new(&server).await;
    (server, client)
}

async fn migrate(client: &mut Client, name: &str, group: &str, resource: &str) {
    let resource = json!({"group": group, "resource": resource});
    create(client, MIGRATIONS, &json!({"metadata": {"name": name}, "spec": {"resource": resource}})).await;
}

/// The conditions of a migration, as `type=status message`.
async fn said(client: &mut Client, name: &str) -> Vec<String> {
    let migration = client.get(&format!("{MIGRATIONS}/{name}")).await.expect(200);
    let conditions = migration["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    let line = |one: &Value| format!("{}={} {}", text(one, "type"), text(one, "status"), text(one, "message"));
    conditions.iter().map(line).collect()
}

const COMPLETED: &str = "Running=False Migration completed";

#[tokio::test]
async fn a_resource_that_is_not_served_is_waited_for() {
    let (server, mut client) = cluster().await;
    migrate(&mut client, "none", "example.com", "nothings").await;
    quiet(&server).await;
    assert_eq!(said(&mut client, "none").await, ["Running=True The migration is running"]);
    pass(&server, 59).await;
    assert_eq!(said(&mut client, "none").await.len(), 1);
    // It is tried again ever more seldom.
    pass(&server, 120).await;
    let failed = "Failed=True resource does not exist in discovery";
    assert_eq!(said(&mut client, "none").await, [COMPLETED, failed]);
    server.shutdown().await;
}

#[tokio::test]
async fn migrations_of_a_resource_take_turns() {
    let (server, mut client) = cluster().await;
    for number in 0..3 {
        create(&mut client, CONFIG_MAPS, &owned(&format!("c-{number}"), &[])).await;
    }
    let controllers = server.controllers();
    controllers.pause(Controller::StorageVersionMigrator).await.expect("it runs");
    for name in ["b", "a"] {
        migrate(&mut client, name, "", "configmaps").await;
    }
    let turn = controllers.step(Controller::StorageVersionMigrator).await.expect("it is paused").expect("a key");
    assert_eq!(turn.key, "turns of configmaps");
    assert_eq!(said(&mut client, "a").await, ["Running=True The migration is running"]);
    assert_eq!(said(&mut client, "b").await, [""; 0]);
    controllers.resume(Controller::StorageVersionMigrator).expect("it runs");
    quiet(&server).await;
    let maps = client.get("/api/v1/configmaps").await.expect(200)["items"].as_array().map_or(0, Vec::len);
    for name in ["a", "b"] {
        assert_eq!(said(&mut client, name).await, [COMPLETED, "Succeeded=True Migration completed"]);
    }
    let written = server
        .requests()
        .iter()
        .filter(|one| one.method == "PATCH" && one.uri.to_string().contains("/configmaps/"))
        .count();
    assert_eq!(written, 2 * maps);
    server.shutdown().await;
}
