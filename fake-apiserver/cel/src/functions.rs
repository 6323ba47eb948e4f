//! The declared functions with their overloads: `functions.txt`.

use crate::types::{Type, split};
use std::collections::HashMap;

/// An overload of a function.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    pub(crate) member: bool,
    /// The types of the arguments; for a member, that of the target comes first.
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// Whether only stored expressions may use it.
    pub(crate) stored_only: bool,
}

/// All functions, by name.
#[derive(Debug)]
pub(crate) struct Functions {
    by_name: HashMap<&'static str, Vec<Overload>>,
}

impl Functions {
    pub(crate) fn new() -> Self {
        let mut by_name: HashMap<&'static str, Vec<Overload>> = HashMap::new();
        let mut current = "";
        for line in include_str!("functions.txt").lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix("function ") {
                current = name;
            } else if let Some(overload) = parse(line.trim_start()) {
                by_name.entry(current).or_default().push(overload);
            }
        }
        by_name.insert("jsonpatch.escapeKey", Vec::from([patch_function()]));
        Self { by_name }
    }

    pub(crate) fn get(&self, name: &str) -> Option<(&'static str, &[Overload])> {
        self.by_name.get_key_value(name).map(|(name, overloads)| (*name, overloads.as_slice()))
    }
}

/// The overload that only mutating policies have; it is in none of the recorded environments.
pub(crate) const PATCH_OVERLOAD: &str = "string_jsonpatch_escapeKey_string";

fn patch_function() -> Overload {
    let args = vec![Type::String];
    Overload { id: PATCH_OVERLOAD, member: false, args, result: Type::String, stored_only: false }
}

fn parse(line: &'static str) -> Option<Overload> {
    let (head, rest) = line.split_once(" (")?;
    let (id, form) = head.split_once(' ')?;
    let (args, result) = rest.split_once(") -> ")?;
    let (result, stored_only) = match result.strip_suffix(" stored") {
        Some(result) => (result, true),
        None => (result, false),
    };
    Some(Overload {
        id,
        member: form == "member",
        args: split(args).into_iter().map(Type::parse).collect(),
        result: Type::parse(result),
        stored_only,
    })
}
