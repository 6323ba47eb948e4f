//! The operator on a server of its own.

use fake_apiserver::FakeApiServer;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use operator_example::{Site, SiteSpec, install, run};
use serde_json::json;

/// The page shows lines of this file.
#[test]
fn the_page_is_up_to_date() {
    let section = include_str!("../../../../docs/rust.md").split("## An operator").nth(1).expect("the section");
    let code = section.split("```").nth(1).expect("the code").lines().skip(1);
    for line in code {
        assert!(include_str!("operator.rs").lines().any(|own| own == line), "{line}");
    }
}

fn site(page: &str) -> Site {
    Site::new("home", SiteSpec { page: page.into(), host: "home.example.com".into() })
}

#[tokio::test]
async fn a_site_has_its_page() {
    let server = FakeApiServer::builder().start().await.expect("the server starts");
    let client = server.client();
    install(client.clone()).await.expect("sites are defined");
    let operator = tokio::spawn(run(client.clone()));
    let sites: Api<Site> = Api::namespaced(client.clone(), "default");
    let pages: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let shows = |page: &'static str| {
        move |found: Option<&ConfigMap>| {
            found.and_then(|found| found.data.as_ref()).is_some_and(|data| data["index.html"] == page)
        }
    };

    let refused = sites.create(&PostParams::default(), &site("")).await.expect_err("the schema wants a page");
    assert!(refused.to_string().contains("should be at least 1 chars long"), "{refused}");

    let created = sites.create(&PostParams::default(), &site("hello")).await.expect("a good site");
    await_condition(pages.clone(), "home", shows("hello")).await.expect("it is published");
    let published = |found: Option<&Site>| found.is_some_and(|site| site.status.is_some());
    await_condition(sites.clone(), "home", published).await.expect("the site says so");

    let move_away = Patch::Merge(json!({"spec": {"host": "away.example.com"}}));
    let refused = sites.patch("home", &PatchParams::default(), &move_away).await.expect_err("a rule is against it");
    assert!(refused.to_string().contains("a site keeps its host"), "{refused}");

    let change = Patch::Merge(json!({"spec": {"page": "good bye"}}));
    sites.patch("home", &PatchParams::default(), &change).await.expect("the site changes");
    await_condition(pages.clone(), "home", shows("good bye")).await.expect("so does the page");

    sites.delete("home", &Default::default()).await.expect("the site may go");
    let uid = created.metadata.uid.expect("stored objects have a uid");
    await_condition(sites, "home", conditions::is_deleted(&uid)).await.expect("the operator lets go");
    assert!(pages.get_opt("home").await.expect("the server answers").is_none(), "the page went first");
    let events: Api<Event> = Api::namespaced(client, "default");
    let events = events.list(&Default::default()).await.expect("the server answers");
    assert!(events.items.iter().all(|event| event.reason.as_deref() == Some("Published")) && !events.items.is_empty());
    operator.abort();
}
