//! The difference of rules: permissions in some that others lack, because users may not grant permissions that they lack.
//!
//! Ports `Covers` of `k8s.io/component-helpers/auth/rbac/validation` (v0.37.1) and `CompactRules` of
//! `pkg/registry/rbac/validation` (v1.37.1). Upstream breaks rules down into rules with one verb, group, resource and name each;
//! here these are walked without being made.

use super::rule::{ALL, compact, path_covers};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::registry::Rule;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A group, resource and name (`None` for all names) of a rule.
type Object<'r> = (&'r str, &'r str, Option<&'r str>);

/// The most bytes of listed permissions: a rule of a few lines can mean millions.
const MAX_REPORTED_BYTES: usize = 16 << 20;

/// The number of texts that are compared between two looks at the deadline.
const PORTION: usize = 4096;

/// The permissions of `wanted` that `owned` lacks, as messages show them: sorted, each once; empty if none is lacking. Of very many,
/// only the first.
///
/// # Errors
/// 504, if the deadline passes.
pub(super) fn missing(owned: &[&Rule], wanted: &[Rule], deadline: &Deadline) -> ApiResult<Vec<String>> {
    let mut missing = Missing {
        verbs: HashMap::new(),
        paths: Vec::new(),
        room: MAX_REPORTED_BYTES,
        compared: Cell::new(0),
        deadline,
    };
    for rule in wanted {
        if missing.look_at(owned, rule)?.is_break() {
            break;
        }
    }
    Ok(missing.descriptions())
}

/// The permissions found lacking.
struct Missing<'r> {
    /// Resources, each with its verbs: `CompactRules` merges rules that differ only in these, but not those for paths.
    verbs: HashMap<Object<'r>, Vec<&'r str>>,
    /// Paths, each with a verb.
    paths: Vec<(&'r str, &'r str)>,
    /// The bytes left for the list.
    room: usize,
    /// The number of texts that were compared since the last look at the deadline.
    compared: Cell<usize>,
    deadline: &'r Deadline,
}

impl<'r> Missing<'r> {
    /// `BreakdownRule` and `ruleCovers`; breaks when the list is full.
    fn look_at(&mut self, owned: &[&Rule], rule: &'r Rule) -> ApiResult<ControlFlow<()>> {
        let names: Vec<Option<&str>> = match rule.resource_names.as_slice() {
            [] => vec![None],
            names => names.iter().map(|name| Some(name.as_str())).collect(),
        };
        for group in &rule.api_groups {
            let owned = self.narrowed(owned, |owned| &owned.api_groups, |owned| has(&owned.api_groups, group))?;
            for resource in &rule.resources {
                let owned =
                    self.narrowed(&owned, |owned| &owned.resources, |owned| covers_resource(owned, resource))?;
                for name in &names {
                    let owned =
                        self.narrowed(&owned, |owned| &owned.resource_names, |owned| covers_name(owned, *name))?;
                    let lacking = self.lacking_verbs(&owned, rule)?;
                    if lacking.is_empty() {
                        continue;
                    }
                    let named = [group, resource, name.unwrap_or_default()].into_iter().chain(lacking.iter().copied());
                    if !self.take_room(named.map(str::len).sum()) {
                        return Ok(ControlFlow::Break(()));
                    }
                    self.verbs.entry((group, resource, *name)).or_default().extend(lacking);
                }
            }
        }
        for path in &rule.paths {
            let covers = |owned: &Rule| owned.paths.iter().any(|owned| path_covers(owned, path));
            let covers = |owned: &Rule| owned.resource_names.is_empty() && covers(owned);
            let owned = self.narrowed(owned, |owned| &owned.paths, covers)?;
            for verb in self.lacking_verbs(&owned, rule)? {
                if !self.take_room(path.len() + verb.len()) {
                    return Ok(ControlFlow::Break(()));
                }
                self.paths.push((path, verb));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Those of `owned` that cover something, by the list that is compared with it.
    fn narrowed<'o>(
        &self,
        owned: &[&'o Rule],
        list: impl Fn(&Rule) -> &Vec<String>,
        covers: impl Fn(&Rule) -> bool,
    ) -> ApiResult<Vec<&'o Rule>> {
        let mut left = Vec::new();
        for rule in owned {
            self.compare(list(rule).len())?;
            if covers(rule) {
                left.push(*rule);
            }
        }
        Ok(left)
    }

    /// The verbs of a rule that none of `owned` has.
    fn lacking_verbs(&self, owned: &[&Rule], rule: &'r Rule) -> ApiResult<Vec<&'r str>> {
        let mut lacking = Vec::new();
        for verb in &rule.verbs {
            let mut is_lacking = true;
            for owned in owned {
                self.compare(owned.verbs.len())?;
                is_lacking &= !has(&owned.verbs, verb);
                if !is_lacking {
                    break;
                }
            }
            if is_lacking {
                lacking.push(verb.as_str());
            }
        }
        Ok(lacking)
    }

    /// Counts the comparison with that many texts, and looks at the deadline now and then.
    fn compare(&self, texts: usize) -> ApiResult<()> {
        let compared = self.compared.get() + 1 + texts;
        self.compared.set(compared % PORTION);
        if compared < PORTION { Ok(()) } else { self.deadline.check() }
    }

    /// Takes room in the list; false if it is full.
    fn take_room(&mut self, bytes: usize) -> bool {
        // With the names of the fields and the punctuation.
        let left = self.room.checked_sub(bytes + 64);
        self.room = left.unwrap_or_default();
        left.is_some()
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
