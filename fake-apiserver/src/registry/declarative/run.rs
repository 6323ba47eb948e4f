//! The interpreter of checks: `Validate_*` of the generated code, and the functions of `k8s.io/apimachinery/pkg/api/validate` that
//! apply others (v0.37.1): each.go, item.go, subfield.go, discriminator.go, options.go.

use super::calls;
use super::program::{Call, Case, Check, Ends, Field, Match, Program, Stage, Type};
use crate::error::FieldError;
use crate::object::generation;
use crate::registry::cursor::At;
use std::collections::HashMap;
use tree::Value;

/// The options that types name, and whether they are on: gates of features in Kubernetes 1.37.
const OPTIONS: &[(&str, bool)] = &[
    ("DRAPartitionableDevicesType", false),
    ("HPAScaleToZero", true),
    ("InPlacePodVerticalScalingSchedulerPreemption", false),
    ("WorkloadWithJob", false),
];

static NULL: Value = Value::Null;

/// A finding of declarative validation.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) error: FieldError,
    pub(super) stage: Stage,
}

/// A run over an object.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) program: &'static Program,
    /// Whether an object is updated; an old value may be missing then, too.
    pub(super) updates: bool,
}

impl Run {
    /// The checks of a type on a value, given the old one.
    pub(super) fn on_type(self, ty: &Type, at: At<'_, '_>, old: Option<&Value>, found: &mut Vec<Finding>) {
        if self.calls(&ty.calls, at, old, found) {
            return;
        }
        for Field { name, calls } in &ty.fields {
            let Some(name) = name else {
                self.calls(calls, at, old, found);
                continue;
            };
            let (field, old) = (at.field(name), old.map(|old| &old[*name]));
            if !self.is_unchanged(&field, old) {
                self.calls(calls, field, old, found);
            }
        }
    }

    /// Whether an update leaves a value as it was, so that it is not looked at.
    fn is_unchanged(self, at: &At<'_, '_>, old: Option<&Value>) -> bool {
        self.updates && old.is_some_and(|old| generation::equal_as(at.ty(), Some(at.value()), Some(old)))
    }

    /// Checks of a value; whether a finding ended them.
    fn calls(self, calls: &[Call], at: At<'_, '_>, old: Option<&Value>, found: &mut Vec<Finding>) -> bool {
        let mut ended = false;
        for call in calls {
            if ended && call.ends == Ends::No {
                break;
            }
            let before = found.len();
            self.call(call, at, old, found);
            if found.len() == before {
                continue;
            }
            ended |= call.ends != Ends::No;
            if call.ends == Ends::Silently {
                found.truncate(before);
            }
            if call.stage != Stage::Stable {
                found[before..].iter_mut().for_each(|finding| finding.stage = call.stage);
            }
        }
        ended
    }

    fn call(self, call: &Call, at: At<'_, '_>, old: Option<&Value>, found: &mut Vec<Finding>) {
        match &call.check {
            Check::Type(name) => {
                // A nil pointer does not count as an old value.
                let is_pointer = at.ty().is_some_and(|ty| ty.go_kind() == "ptr");
                let old = old.filter(|old| !(is_pointer && old.is_null()));
                if let Some(ty) = self.program.ty(name) {
                    self.on_type(ty, at, old, found);
                }
            }
            Check::Cohort => drop(self.calls(&call.inner, at, old, found)),
            Check::Items(found_by, compared) => self.items(call, (found_by, compared), at, old, found),
            Check::Values => {
                for (key, value) in at.entries() {
                    let old = old.and_then(|old| old.get(key));
                    if !self.is_unchanged(&value, old) {
                        self.calls(&call.inner, value, old, found);
                    }
                }
            }
            Check::Keys => {
                for (key, _) in at.entries() {
                    if !self.updates || old.is_none_or(|old| old.get(key).is_none()) {
                        let key = Value::from(key);
                        self.calls(&call.inner, At::untyped(&key, at.path()), None, found);
                    }
                }
            }
            Check::Subfield(name) => {
                let (field, old) = (at.field(name), old.map(|old| &old[*name]));
                if !self.is_unchanged(&field, old) {
                    self.calls(&call.inner, field, old, found);
                }
            }
            Check::Option(name, on) => match OPTIONS.iter().find(|(option, _)| option == name) {
                Some((_, is_on)) if is_on == on => drop(self.calls(&call.inner, at, old, found)),
                Some(_) => {}
                None => {
                    found.push(stable(FieldError::internal(at.path(), format!("undefined validation option {name:?}"))))
                }
            },
            Check::Discriminated(field, discriminator, cases) => {
                self.discriminated((field, discriminator), cases, at, old, found);
            }
            check => found.extend(calls::check(check, at, old, self.updates).into_iter().map(stable)),
        }
    }

    fn items(
        self,
        call: &Call,
        (found_by, compared): (&Match, &Match),
        at: At<'_, '_>,
        old: Option<&Value>,
        found: &mut Vec<Finding>,
    ) {
        let mut before = HashMap::new();
        for old in old.and_then(Value::as_array).into_iter().flatten() {
            if let Some(key) = calls::key(found_by, old) {
                before.entry(key).or_insert(old);
            }
        }
        for item in at.items() {
            let old = calls::key(found_by, item.value()).and_then(|key| before.get(&key).copied());
            let is_known = *compared == Match::Never && old.is_some();
            if !(self.updates && (is_known || self.is_unchanged(&item, old))) {
                self.calls(&call.inner, item, old, found);
            }
        }
    }

    fn discriminated(
        self,
        (name, discriminator): (&str, &str),
        cases: &[Case],
        at: At<'_, '_>,
        old: Option<&Value>,
        found: &mut Vec<Finding>,
    ) {
        let (field, old_field) = (at.field(name), old.map(|old| &old[name]));
        let value = at.field(discriminator).text();
        let was = old.map(|old| old[discriminator].as_str().unwrap_or_default());
        if was == Some(value) && self.is_unchanged(&field, old_field) {
            return;
        }
        let mut cases = cases.iter();
        if let Some(case) = cases.find(|case| case.value.is_none_or(|wanted| wanted == value)) {
            self.calls(&case.calls, field, old_field.or(Some(&NULL)), found);
        }
    }
}

/// Whether a type may name the option.
#[cfg(test)]
pub(super) fn is_option(name: &str) -> bool {
    OPTIONS.iter().any(|(option, _)| *option == name)
}

fn stable(error: FieldError) -> Finding {
    Finding { error, stage: Stage::Stable }
}
