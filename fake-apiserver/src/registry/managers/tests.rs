//! The managers of new objects, as they are printed, against those that a comparison with an empty object finds.

use super::*;
use crate::registry::Registry;
use std::path::Path;
use std::{fs, io};

/// The objects in the recorded cases of all kinds, with the resource of each.
fn objects() -> io::Result<Vec<(String, Value)>> {
    let mut objects = Vec::new();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/kinds"))? {
        let path = entry?.path();
        let resource = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for line in fs::read_to_string(&path)?.lines() {
            let case: Value = serde_json::from_str(line)?;
            let bodies = ["body", "old", "answer"].map(|part| case[part].clone());
            objects.extend(bodies.into_iter().filter(Value::is_object).map(|body| (resource.clone(), body)));
        }
    }
    Ok(objects)
}

#[test]
fn new_objects_have_the_managers_of_a_comparison_with_nothing() {
    let (registry, mut count) = (Registry::built_in(), 0);
    for (name, mut object) in objects().expect("the fixtures can be read") {
        let (plural, group) = name.split_once('.').unwrap_or((&name, ""));
        let served =
            registry.versions().find(|served| served.version.plural == plural && served.version.group == group);
        let Some(served) = served else { continue };
        let (resource, version) = (served.resource, served.resource.storage());
        object["apiVersion"] = (&*version.api_version).into();
        object["kind"] = (&*version.kind).into();
        let Ok(mut decoded) = schema::check(&object, version.ty()) else { continue };
        meta::remove(&mut decoded.object, FIELD);
        let complete = serde_json::from_slice(&schema::encode(&decoded.object, version.ty()).json).expect("JSON");
        for subresource in ["", "status"] {
            let endpoint = Endpoint { resource, version, subresource };
            for (trees, object) in [(Trees::Canonical, &decoded.object), (Trees::Complete, &complete)] {
                let context = endpoint.context(trees, "2026-01-01T00:00:00Z");
                let nothing = empty(&version.api_version, &version.kind);
                let compared = context.update(&nothing, object, Managers::new(), "m").map(|all| managed::encode(&all));
                let created = context.create(object, "m").map(|entry| entry.into_iter().collect::<Vec<_>>());
                assert_eq!(created, compared, "{object}");
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}
