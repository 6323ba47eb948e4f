//! The stages that are in force: those that were given at the start, and those of objects, by name.

use super::{Stage, Stageable, Stages, choice, file, read};
use crate::objects::Change;
use crate::resource::Resource;
use std::collections::BTreeMap;
use std::sync::Arc;
use tree::Value;

/// Stages as objects, where their kind is served.
pub(in super::super) const STAGES: Resource = Resource::new("kwok.x-k8s.io", "v1alpha1", "stages");

/// All stages.
#[derive(Debug, Default)]
pub(in super::super) struct Shelf {
    given: Stages,
    /// Those of objects by name, or what is wrong with them.
    objects: BTreeMap<String, Result<Arc<Stage>, String>>,
}

impl Shelf {
    /// The stages that were given.
    pub(in super::super) fn of(given: Stages) -> Shelf {
        Shelf { given, objects: BTreeMap::new() }
    }

    /// Takes note of a change, and whether it is one of stages.
    pub(in super::super) fn note(&mut self, change: &Change<'_>) -> bool {
        if *change.resource != STAGES {
            return false;
        }
        let name = change.key.name.clone();
        match change.new {
            Some(object) => {
                let stage = read::stage(object).map(Arc::new);
                let stage = stage.map_err(|wrong| {
                    let line = if wrong.line > 0 { format!(" (line {})", wrong.line + 1) } else { String::new() };
                    format!("{}{line}: {}", file::path(&wrong.way), wrong.message)
                });
                self.objects.insert(name, stage);
            }
            None => drop(self.objects.remove(&name)),
        }
        true
    }

    /// The error in the stage of an object, if there is one.
    pub(in super::super) fn mistake(&self, name: &str) -> Option<&str> {
        self.objects.get(name)?.as_ref().err().map(String::as_str)
    }

    /// Whether there are stages of such objects.
    pub(in super::super) fn is_about(&self, about: Stageable) -> bool {
        self.all(about).next().is_some()
    }

    /// The stage that an object comes to next.
    pub(super) fn next(&self, about: Stageable, object: &Value) -> Option<&Arc<Stage>> {
        choice::next(self.all(about), object)
    }

    fn all(&self, about: Stageable) -> impl Iterator<Item = &Arc<Stage>> {
        let objects = self.objects.values().filter_map(|stage| stage.as_ref().ok());
        self.given.0.iter().chain(objects).filter(move |stage| stage.about == about)
    }
}
