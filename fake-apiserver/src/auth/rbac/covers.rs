//! The difference of rules: permissions in some that others lack, because users may not grant permissions that they lack.
//!
//! Ports `Covers` of `k8s.io/component-helpers/auth/rbac/validation` (v0.37.1) and `CompactRules` of
//! `pkg/registry/rbac/validation` (v1.37.1). Upstream breaks rules down into rules with one verb, group, resource and name each;
//! here these are walked without being made.

use super::rule::{ALL, Rule, compact, path_covers};
use crate::deadline::Deadline;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A group, resource and name (`None` for all names) of a rule.
type Object<'r> = (&'r str, &'r str, Option<&'r str>);

/// The most bytes of listed permissions: a rule of a few lines can mean millions.
const MAX_REPORTED_BYTES: usize = 16 << 20;

/// The permissions of `wanted` that `owned` lacks, as messages show them: sorted, each once; empty if none is lacking. Of very many,
/// only the first, as if the time is up meanwhile.
pub(super) fn missing(owned: &[&Rule], wanted: &[Rule], deadline: &Deadline) -> Vec<String> {
    let mut missing = Missing { verbs: HashMap::new(), paths: Vec::new(), room: MAX_REPORTED_BYTES, deadline };
    let _ = wanted.iter().try_for_each(|rule| missing.look_at(owned, rule));
    missing.descriptions()
}

/// The permissions found lacking.
struct Missing<'r> {
    /// Resources, each with its verbs: `CompactRules` merges rules that differ only in these, but not those for paths.
    verbs: HashMap<Object<'r>, Vec<&'r str>>,
    /// Paths, each with a verb.
    paths: Vec<(&'r str, &'r str)>,
    /// The bytes left for the list.
    room: usize,
    deadline: &'r Deadline,
}

impl<'r> Missing<'r> {
    /// `BreakdownRule` and `ruleCovers`; breaks when the list is full.
    fn look_at(&mut self, owned: &[&Rule], rule: &'r Rule) -> ControlFlow<()> {
        for group in &rule.api_groups {
            let owned = narrowed(owned, |owned| has(&owned.api_groups, group));
            for resource in &rule.resources {
                let owned = narrowed(&owned, |owned| covers_resource(owned, resource));
                let mut look_at = |name: Option<&'r str>| {
                    self.go_on()?;
                    let owned = narrowed(&owned, |owned| covers_name(owned, name));
                    let lacking: Vec<&str> = lacking_verbs(&owned, rule).collect();
                    if lacking.is_empty() {
                        return ControlFlow::Continue(());
                    }
                    let named = [group, resource, name.unwrap_or_default()].into_iter().chain(lacking.iter().copied());
                    self.take_room(named.map(str::len).sum())?;
                    self.verbs.entry((group, resource, name)).or_default().extend(lacking);
                    ControlFlow::Continue(())
                };
                match rule.resource_names.as_slice() {
                    [] => look_at(None)?,
                    names => names.iter().try_for_each(|name| look_at(Some(name)))?,
                }
            }
        }
        for path in &rule.paths {
            self.go_on()?;
            let covers = |owned: &Rule| owned.paths.iter().any(|owned| path_covers(owned, path));
            let owned = narrowed(owned, |owned| owned.resource_names.is_empty() && covers(owned));
            for verb in lacking_verbs(&owned, rule) {
                self.take_room(path.len() + verb.len())?;
                self.paths.push((path, verb));
            }
        }
        ControlFlow::Continue(())
    }

    fn go_on(&self) -> ControlFlow<()> {
        self.deadline.check().map_or_else(|_| ControlFlow::Break(()), ControlFlow::Continue)
    }

    fn take_room(&mut self, bytes: usize) -> ControlFlow<()> {
        // With the names of the fields and the punctuation.
        match self.room.checked_sub(bytes + 64) {
            Some(room) => self.room = room,
            None => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn descriptions(self) -> Vec<String> {
        let objects = self
            .verbs
            .into_iter()
            .map(|((group, resource, name), verbs)| compact([&[group], &[resource], &[], name.as_slice(), &verbs]));
        let paths = self.paths.into_iter().map(|(path, verb)| compact([&[], &[], &[path], &[], &[verb]]));
        let mut descriptions: Vec<String> = objects.chain(paths).collect();
        descriptions.sort();
        descriptions.dedup();
        descriptions
    }
}

fn narrowed<'o>(owned: &[&'o Rule], covers: impl Fn(&Rule) -> bool) -> Vec<&'o Rule> {
    owned.iter().copied().filter(|owned| covers(owned)).collect()
}

/// The verbs of a rule that none of `owned` has.
fn lacking_verbs<'r>(owned: &[&Rule], rule: &'r Rule) -> impl Iterator<Item = &'r str> {
    let lacking = |verb: &&String| !owned.iter().any(|owned| has(&owned.verbs, verb));
    rule.verbs.iter().filter(lacking).map(String::as_str)
}

fn covers_resource(owned: &Rule, resource: &str) -> bool {
    let covers_subresource = |(_, subresource): (&str, &str)| {
        owned.resources.iter().any(|owned| owned.strip_prefix("*/") == Some(subresource))
    };
    has(&owned.resources, resource) || resource.split_once('/').is_some_and(covers_subresource)
}

fn covers_name(owned: &Rule, name: Option<&str>) -> bool {
    owned.resource_names.is_empty() || name.is_some_and(|name| owned.resource_names.iter().any(|owned| owned == name))
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == ALL || item == wanted)
}
