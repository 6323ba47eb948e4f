//! Tests of the generator's promises.

use super::forms::{Forms, Kind};
use super::generate::Generator;
use super::story::Operation;
use std::collections::BTreeSet;
use std::path::Path;

fn forms() -> Forms {
    Forms::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/writes.json"), None).expect("the forms")
}

#[test]
fn the_same_seed_gives_the_same_stories() {
    let forms = forms();
    let [mut one, mut other, mut third] = [1, 1, 2].map(|seed| Generator::new(seed, &forms));
    let stories: Vec<String> = (0..100).map(|_| format!("{:?}", one.story(12))).collect();
    assert!(stories.iter().all(|story| *story == format!("{:?}", other.story(12))));
    assert!(!stories.iter().all(|story| *story == format!("{:?}", third.story(12))));
}

#[test]
fn all_kinds_are_written_in_all_ways() {
    let forms = forms();
    let mut generator = Generator::new(1, &forms);
    let (mut kinds, mut versions, mut places, mut operations) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..1000 {
        let story = generator.story(12);
        kinds.insert(story.kind);
        for step in story.steps {
            versions.insert((story.kind, step.version));
            places.insert(step.subresource);
            operations.insert(format!("{:?}", step.operation));
        }
    }
    assert_eq!(kinds.len(), forms.kinds.len());
    assert_eq!(versions.len(), forms.kinds.iter().map(|kind| kind.versions.len()).sum::<usize>());
    assert_eq!(places.into_iter().collect::<Vec<_>>(), ["", "/scale", "/status"]);
    assert_eq!(operations.len(), 11, "{operations:?}");
}

/// Every form is used, so that each `$use` is followed; every kind has a path.
#[test]
fn forms_can_be_made() {
    let forms = forms();
    let mut generator = Generator::new(7, &forms);
    let stories: Vec<_> = (0..200).map(|_| generator.story(4)).collect();
    assert!(
        stories
            .iter()
            .flat_map(|story| &story.steps)
            .all(|step| { step.body.is_null() == (step.operation == Operation::Delete) })
    );
    let collection = |kind: &Kind| kind.versions.keys().map(|version| kind.collection(version)).next();
    assert!(forms.kinds.iter().filter_map(collection).all(|path| path.starts_with("/api")));
}
