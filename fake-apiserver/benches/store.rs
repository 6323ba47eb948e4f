//! The store alone, without HTTP, JSON and rules.

use criterion::{BatchSize, Criterion};
use fake_apiserver::internals::store::{Draft, Entry, Key, Meta, ResourceId, Scope, Store, Subscription, Updated};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const RESOURCE: ResourceId = ResourceId(0);
const HISTORY: usize = 10_000;
const NAMESPACES: usize = 4;
const OBJECTS_IN_EACH: usize = 1000;

/// An object of some 400 bytes, which contains `number`.
fn draft(namespace: &str, name: &str, number: u64) -> Draft {
    let json = format!(r#"{{"metadata":{{"name":"{name}"}},"data":{{"number":"{number}","text":"{:0340}"}}}}"#, 0);
    let slot = json.find('}').expect("metadata has an end");
    Draft { key: Key::new(RESOURCE, namespace, name), json: json.into(), slot, body: 1, meta: Meta::default() }
}

fn create(store: &Store, namespace: &str, name: &str) -> Arc<Entry> {
    store.create(draft(namespace, name, 0), None).expect("the name is free")
}

fn populated() -> Store {
    let store = Store::new(HISTORY);
    for namespace in 0..NAMESPACES {
        for object in 0..OBJECTS_IN_EACH {
            create(&store, &format!("namespace-{namespace}"), &format!("object-{object}"));
        }
    }
    store
}

/// Updates of one object.
struct Updates {
    store: Store,
    revision: u64,
}

impl Updates {
    fn of(store: &Store) -> Self {
        let revision = create(store, "updated", "object").revision;
        Updates { store: store.clone(), revision }
    }

    fn next(&mut self) {
        let draft = draft("updated", "object", self.revision);
        match self.store.update(draft, self.revision).expect("nobody else updates it") {
            Updated::Changed(entry) => self.revision = entry.revision,
            Updated::Unchanged(_) => unreachable!("the number differs"),
        }
    }
}

fn scope(namespace: Option<&str>, name: Option<&str>) -> Scope {
    Scope { resource: RESOURCE, namespace: namespace.map(Into::into), name: name.map(Into::into) }
}

/// Takes all deliveries of a subscription.
fn drain(subscription: &mut Subscription) {
    while subscription.try_next().is_some() {}
}

fn objects(criterion: &mut Criterion) {
    let store = populated();
    criterion.bench_function("draft", |bencher| bencher.iter(|| draft("new", "object", 0)));
    criterion.bench_function("create and delete", |bencher| {
        let delete = |entry: Arc<Entry>| store.delete(&entry.key, entry.revision).expect("nobody else deletes it");
        bencher.iter_batched(
            || draft("new", "object", 0),
            |draft| delete(store.create(draft, None).expect("the name is free")),
            BatchSize::SmallInput,
        );
    });
    let key = Key::new(RESOURCE, "namespace-1", "object-500");
    criterion.bench_function("get", |bencher| bencher.iter(|| store.get(black_box(&key))));
    criterion.bench_function("snapshot", |bencher| bencher.iter(|| store.snapshot()));
    let namespace = scope(Some("namespace-1"), None);
    criterion.bench_function("list 1,000 of 4,000", |bencher| {
        bencher.iter(|| store.snapshot().range(&namespace, "").cloned().collect::<Vec<_>>());
    });
    let mut updates = Updates::of(&store);
    criterion.bench_function("update", |bencher| bencher.iter(|| updates.next()));
    criterion.bench_function("update beside a snapshot", |bencher| {
        bencher.iter_batched(|| store.snapshot(), |_snapshot| updates.next(), BatchSize::PerIteration);
    });
}

fn watchers(criterion: &mut Criterion) {
    for count in [1, 100, 1000] {
        let store = populated();
        let mut updates = Updates::of(&store);
        let mut watchers: Vec<_> = (0..count).map(|_| store.subscribe(scope(None, None), None).1).collect();
        criterion.bench_function(&format!("update seen by {count}"), |bencher| {
            bencher.iter(|| {
                updates.next();
                watchers.iter_mut().for_each(drain);
            });
        });
    }
    let store = populated();
    let mut updates = Updates::of(&store);
    let watch = |number| store.subscribe(scope(Some("updated"), Some(&format!("object-{number}"))), None);
    let _watchers: Vec<_> = (0..10_000).map(watch).collect();
    criterion.bench_function("update among watches of 10,000 others", |bencher| bencher.iter(|| updates.next()));
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .configure_from_args();
    objects(&mut criterion);
    watchers(&mut criterion);
    criterion.final_summary();
}
