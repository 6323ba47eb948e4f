//! All attacks, by class: those that are data, and those that are functions.

use super::coded;
use super::data::{self, Attack};
use super::ground::Ground;
use super::verdict::{Bounds, Expected};
use super::{act, record::Record};
use anyhow::{Result, ensure};
use futures::future::BoxFuture;
use std::collections::BTreeSet;
use std::path::Path;

/// The classes, in the order in which they are carried out.
pub const CLASSES: [&str; 17] = [
    "http1",
    "http2",
    "tls",
    "bodies",
    "texts",
    "numbers",
    "certificates",
    "definitions",
    "admission",
    "identity",
    "authorization",
    "nodes",
    "state",
    "counts",
    "memory",
    "programs",
    "control",
];

/// A function that carries out an attack and returns the answers in short. An error is an outcome that no server may have.
pub type Run = for<'a> fn(&'a Ground) -> BoxFuture<'a, Result<String>>;

/// An attack that is a function.
pub struct Coded {
    /// The name within its class.
    pub name: &'static str,
    /// A sentence about its attempt.
    pub about: &'static str,
    /// Whether it takes longer than half a second.
    pub slow: bool,
    /// The expected answers, and the reason why no real server judges them; `None` if one does.
    pub stated: Option<(&'static str, &'static str)>,
    /// The bounds for the process.
    pub bounds: Bounds,
    /// Carries it out.
    pub run: Run,
}

impl Coded {
    /// An attack that is quick, that a real server judges, and that has the usual bounds.
    pub const fn new(name: &'static str, about: &'static str, run: Run) -> Coded {
        Coded { name, about, slow: false, stated: None, bounds: Bounds::USUAL, run }
    }

    /// The same attack, which takes longer than half a second and has other bounds.
    pub const fn slow(self, bounds: Bounds) -> Coded {
        Coded { slow: true, bounds, ..self }
    }

    /// The same attack, whose answers no real server judges.
    pub const fn stated(self, expected: &'static str, reason: &'static str) -> Coded {
        Coded { stated: Some((expected, reason)), ..self }
    }
}

/// One attack.
pub struct Entry {
    /// The class and the name: `http1/two-lengths`.
    pub name: String,
    /// The class.
    pub class: &'static str,
    /// A sentence about its attempt.
    pub about: String,
    /// Whether it takes longer than half a second.
    pub slow: bool,
    /// Whether it waits for a limit of the server.
    pub waits: bool,
    /// The bounds for the process.
    pub bounds: Bounds,
    stated: Option<Vec<String>>,
    way: Way,
}

enum Way {
    Data(Box<Attack>),
    Coded(Run),
}

impl Entry {
    /// Whether a real server judges the answers.
    pub fn is_judged(&self) -> bool {
        self.stated.is_none()
    }

    /// The expected answers.
    pub fn expected<'a>(&'a self, record: &'a Record) -> Expected<'a> {
        match &self.stated {
            Some(allowed) => Expected::Stated(allowed),
            None => Expected::Judged(record.answer(&self.name)),
        }
    }

    /// Carries it out; returns the answers in short.
    ///
    /// # Errors
    /// If it cannot be carried out, or has an outcome that no server may have.
    pub async fn carry_out(&self, ground: &Ground) -> Result<String> {
        match &self.way {
            Way::Data(attack) => act::carry_out(attack, ground).await,
            Way::Coded(run) => run(ground).await,
        }
    }
}

/// The names of the attacks that a real server judges.
pub fn judged(entries: &[Entry]) -> Vec<String> {
    entries.iter().filter(|entry| entry.is_judged()).map(|entry| entry.name.clone()).collect()
}

/// All attacks, those of `folder` and those that are functions.
///
/// # Errors
/// If a file cannot be read, or two attacks have one name.
pub fn load(folder: &Path) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for class in CLASSES {
        entries.extend(data::load(folder, class)?.into_iter().map(|attack| Entry {
            name: format!("{class}/{}", attack.name),
            class,
            about: attack.about.clone(),
            slow: attack.slow || attack.waits,
            waits: attack.waits,
            bounds: attack.bounds,
            stated: attack.unjudged.is_some().then(|| attack.expect.clone()),
            way: Way::Data(Box::new(attack)),
        }));
        entries.extend(coded::of(class).map(|attack| Entry {
            name: format!("{class}/{}", attack.name),
            class,
            about: attack.about.to_owned(),
            slow: attack.slow,
            waits: false,
            bounds: attack.bounds,
            stated: attack.stated.map(|(expected, _)| vec![expected.to_owned()]),
            way: Way::Coded(attack.run),
        }));
    }
    let names: BTreeSet<&String> = entries.iter().map(|entry| &entry.name).collect();
    ensure!(names.len() == entries.len(), "two attacks have one name");
    Ok(entries)
}
