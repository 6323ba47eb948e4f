//! The beginnings of clusters: those beside the first one begin with what another one had at some revision.

use super::file::Recording;
use super::line::{Line, What};
use super::moment::Kept;
use crate::near::hint;
use std::collections::{BTreeMap, BTreeSet};

/// The objects of a cluster, by their resources and paths.
pub(super) type Objects = BTreeMap<(String, String), Kept>;

/// The lines about a cluster since it began.
pub(super) struct Own<'r> {
    /// The index of the line that it begins with.
    begun: usize,
    /// The number of its lines before the one that was asked for.
    before: usize,
    pub(super) lines: Vec<&'r Line>,
}

impl<'r> Own<'r> {
    /// The lines around that one in which no revision is taken twice, and the place of it among them: a cluster that goes back to a snapshot
    /// takes the same ones again.
    pub(super) fn around(&self, index: usize) -> (Own<'r>, usize) {
        let goes_back = |at: &usize| {
            let earlier = || self.lines[..*at].iter().filter_map(|line| revision(line)).max();
            matches!(self.lines[*at].what, What::Base { .. }) && Some(self.lines[*at].revision) <= earlier()
        };
        let first = (0..=index).rev().find(goes_back).unwrap_or_default();
        let next = (index + 1..self.lines.len()).find(goes_back).unwrap_or(self.lines.len());
        let (begun, before) = (self.begun, self.before.saturating_sub(first));
        (Own { begun, before, lines: self.lines[first..next].to_vec() }, index - first)
    }

    /// The index of the line that the objects of a revision go back to.
    pub(super) fn base(&self, revision: u64) -> Option<usize> {
        self.lines.iter().rposition(|line| is_base(line) && line.revision <= revision)
    }

    /// The revision that the recording begins with.
    pub(super) fn first(&self) -> Option<u64> {
        self.lines.iter().find(|line| is_base(line)).map(|line| line.revision)
    }
}

/// The revision of the objects that a line is about.
fn revision(line: &Line) -> Option<u64> {
    match &line.what {
        What::Change(stored) => Some(stored.revision),
        _ if is_base(line) => Some(line.revision),
        _ => None,
    }
}

/// Whether the objects of a cluster are known at a line.
fn is_base(line: &Line) -> bool {
    match line.what {
        What::Base { .. } => true,
        What::Begun { .. } => line.cluster.is_some(),
        _ => false,
    }
}

impl Recording {
    /// The lines about a cluster: of that name, the last one that has begun before a line; the first one, without a name.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn own(&self, cluster: Option<&str>, before: usize) -> Result<Own<'_>, String> {
        let is_own = |line: &&Line| line.cluster.as_deref() == cluster;
        let begins = |line: &Line| cluster.is_some() && is_own(&line) && matches!(line.what, What::Begun { .. });
        let begun = match cluster {
            None => 0,
            Some(name) => self.lines[..before].iter().rposition(begins).ok_or_else(|| self.no_cluster(name))?,
        };
        let next = self.lines.iter().skip(begun + 1).position(begins).map_or(self.lines.len(), |at| begun + 1 + at);
        let count = self.lines[begun..before.clamp(begun, next)].iter().filter(is_own).count();
        Ok(Own { begun, before: count, lines: self.lines[begun..next].iter().filter(is_own).collect() })
    }

    fn no_cluster(&self, name: &str) -> String {
        let names: BTreeSet<&str> = self.lines.iter().filter_map(|line| line.cluster.as_deref()).collect();
        let near = if names.contains(name) { "" } else { &hint(name, names) };
        format!("the beginning of a cluster {name:?} is not in the recording{near}")
    }

    /// The objects with which a cluster has begun; none if its lines have them at the base.
    ///
    /// # Errors
    /// If those of the one that it has begun from are not known.
    pub(super) fn begun(&self, own: &Own<'_>, base: usize) -> Result<Objects, String> {
        let (mut line, mut begun, mut chain) = (own.lines[base], own.begun, Vec::new());
        // Each begins before the one that begins from it.
        while let What::Begun { from } = &line.what {
            let origin = self.own(from.as_deref(), begun)?;
            let (around, _) = origin.around(origin.before.saturating_sub(1));
            let base = around.base(line.revision).ok_or_else(|| {
                format!(
                    "the objects at revision {} that a cluster has begun with are not in the recording",
                    line.revision
                )
            })?;
            chain.push((line.revision, around.lines[base..].to_vec()));
            (line, begun) = (around.lines[base], around.begun);
        }
        let mut objects = Objects::new();
        for (revision, lines) in chain.iter().rev() {
            add(&mut objects, &lines[1..], *revision);
        }
        Ok(objects)
    }
}

/// Adds what lines say up to a revision, or to where all is said anew; the changes behind it are those that are left.
pub(super) fn add(objects: &mut Objects, lines: &[&Line], revision: u64) -> Vec<Kept> {
    let mut later = Vec::new();
    for line in lines {
        match &line.what {
            What::Present(stored) => {
                objects.insert((stored.resource.clone(), stored.path.clone()), Kept::of(stored, line));
            }
            What::Change(stored) if stored.revision <= revision => {
                let key = (stored.resource.clone(), stored.path.clone());
                match stored.kept {
                    Some(_) => objects.insert(key, Kept::of(stored, line)),
                    None => objects.remove(&key),
                };
            }
            What::Change(stored) => later.push(Kept::of(stored, line)),
            What::Base { .. } => break,
            _ => {}
        }
    }
    later
}
