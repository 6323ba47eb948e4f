//! RBAC decisions on the policy of a new cluster, on one thread and on two.

use criterion::Criterion;
use fake_apiserver::internals::auth::{Attributes, Authorizer, Decision, Rbac, Target};
use fake_apiserver::internals::store;
use fake_apiserver::internals::store::Store;
use fake_apiserver::{AuthorizationMode, FakeApiServer, User};
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

/// A user in a cluster role binding, and one in none; and whether they are allowed.
const USERS: [(&str, bool); 2] = [("system:kube-scheduler", true), ("somebody", false)];

fn decide(store: &Store, user: &User, allowed: bool) {
    let target =
        Target::Resource { group: "", version: "v1", resource: "nodes", subresource: "", namespace: "", name: "" };
    let decision = Rbac::default().authorize(store, &Attributes::new(black_box(user), "list", target));
    assert_eq!(matches!(decision, Ok(Decision::Allow(_))), allowed);
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be made");
    let modes = [AuthorizationMode::Rbac];
    let started = FakeApiServer::builder().authorization_mode(modes).start();
    let server = runtime.block_on(started).expect("the server starts");
    let store = store(&server);
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    for (name, allowed) in USERS {
        let user = User { name: name.into(), groups: vec!["system:authenticated".into()], ..User::default() };
        for threads in [1, 2] {
            criterion.bench_function(&format!("rbac: {name}, {threads} threads"), |bencher| {
                bencher.iter_custom(|times| {
                    let start = Instant::now();
                    thread::scope(|scope| {
                        for _ in 0..threads {
                            scope.spawn(|| (0..times).for_each(|_| decide(store, &user, allowed)));
                        }
                    });
                    start.elapsed()
                });
            });
        }
    }
    criterion.final_summary();
}
