//! The tree compared with a map of the same objects.

use super::super::{Draft, Meta, ResourceId};
use super::*;
use std::collections::BTreeMap;
use std::convert::Infallible;

fn key(number: u32) -> Key {
    Key::new(ResourceId(0), "", &format!("{number:05}"))
}

fn entry(number: u32, revision: u64) -> Arc<Entry> {
    let draft = Draft { key: key(number), json: b"{\"metadata\":{}}".into(), slot: 13, body: 1, meta: Meta::default() };
    Arc::new(Entry::new(draft, revision))
}

fn revisions(tree: &Tree) -> Vec<u64> {
    tree.range(0..usize::MAX).map(|entry| entry.revision).collect()
}

/// Pseudo-random numbers, always the same (Knuth's MMIX generator).
fn numbers() -> impl Iterator<Item = u32> {
    iter::successors(Some(1_u64), |state| {
        Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    })
    .map(|state| (state >> 33) as u32)
}

#[test]
fn it_holds_what_a_map_would_and_clones_keep_what_they_saw() {
    let (mut tree, mut map) = (Tree::new(), BTreeMap::new());
    let mut clones = Vec::new();
    // It grows to some thousands of objects, and shrinks to none.
    for (step, number) in (0..30_000).zip(numbers()) {
        let (number, removes) = (number % 6000, number % 7 < if step < 15_000 { 2 } else { 6 });
        let key = key(number);
        if removes {
            assert_eq!(tree.remove(&key).map(|entry| entry.revision), map.remove(&key));
        } else {
            let replaced = tree.insert(entry(number, step));
            assert_eq!(replaced.map(|entry| entry.revision), map.insert(key, step));
        }
        if step % 5000 == 0 {
            clones.push((tree.clone(), map.values().copied().collect::<Vec<_>>()));
        }
    }
    clones.push((tree.clone(), map.values().copied().collect()));
    let mut rank = 0;
    for key in (0..6000).map(key) {
        assert_eq!(tree.get(&key).map(|entry| entry.revision), map.get(&key).copied());
        assert_eq!(tree.rank(&key), rank);
        rank += usize::from(map.contains_key(&key));
    }
    for key in (0..6000).map(key) {
        tree.remove(&key);
    }
    assert!(revisions(&tree).is_empty());
    for (clone, expected) in clones {
        assert_eq!(revisions(&clone), expected);
        let ranks = expected.len() / 3..expected.len() / 2;
        let mut slice = clone.slice(ranks.clone());
        let last = slice.last().map(|entry| entry.revision);
        let runs: Vec<Run> = iter::from_fn(|| slice.next_run()).collect();
        let in_runs: Vec<u64> = runs.iter().flat_map(Run::entries).map(|entry| entry.revision).collect();
        assert_eq!((&in_runs[..], last), (&expected[ranks.clone()], expected[ranks].last().copied()));
    }
}

#[test]
fn what_is_made_of_a_leaf_is_made_again_once_it_has_changed() {
    let mut tree = Tree::new();
    let whole = |tree: &Tree| -> Vec<Bytes> {
        let run = tree.clone().slice(0..usize::MAX).next_run().expect("it is not empty");
        let names = |entries: &[Arc<Entry>]| -> Result<_, Infallible> {
            Ok(entries.iter().map(|entry| Bytes::from(entry.revision.to_string())).collect())
        };
        let Ok(chunks) = run.rendered(FormId(0), ROOM, names);
        chunks.expect("there is room for one leaf").to_vec()
    };
    tree.insert(entry(1, 1));
    tree.insert(entry(2, 2));
    let (first, again) = (whole(&tree), whole(&tree));
    assert_eq!(first, ["1", "2"]);
    assert_eq!(first[0].as_ptr(), again[0].as_ptr());
    // Without the old leaf there is room for the new one.
    tree.insert(entry(1, 3));
    assert_eq!(whole(&tree), ["3", "2"]);
}

#[test]
fn what_finds_no_room_is_not_kept() {
    let mut tree = Tree::new();
    (0..LEAF as u32 + 1).for_each(|number| drop(tree.insert(entry(number, 1))));
    let mut slice = tree.slice(0..usize::MAX);
    let render = |run: &Run, bytes| {
        let Ok(chunks) = run.rendered(FormId(0), bytes, |_| -> Result<_, Infallible> { Ok(Vec::new()) });
        chunks.is_some()
    };
    let runs = [slice.next_run(), slice.next_run()].map(|run| run.expect("two leaves"));
    assert_eq!([render(&runs[0], ROOM), render(&runs[1], 1), render(&runs[0], ROOM)], [true, false, true]);
    let mut part = runs[0].clone();
    part.skip(1);
    assert!(!render(&part, 0), "a part of a leaf is not kept");
}
