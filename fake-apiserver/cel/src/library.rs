//! The implementations of functions, by the overloads of `functions.txt`.

pub(crate) mod authorizer;
mod comprehensions;
pub(crate) mod format;
pub(crate) mod go;
mod ip;
mod kubernetes_lists;
mod lists;
pub(crate) mod named_format;
mod opaque;
mod operators;
mod optionals;
pub(crate) mod patch;
mod quantity;
pub(crate) mod regex;
mod semver;
mod sets;
mod strings;
mod times;
mod url;

pub use opaque::Opaque;

use crate::functions::{Functions, Overload};
use crate::types::Type;
use crate::value::{Map, Outcome, Value, fail, no_such_overload};

/// The implementation of an overload. The arguments are those that it declares, in number and types.
pub(crate) type Function = fn(&[Value]) -> Outcome;

/// The overloads of a library, with their implementations.
type Table = &'static [(&'static str, Function)];

const TABLES: [Table; 15] = [
    authorizer::OVERLOADS,
    comprehensions::OVERLOADS,
    ip::OVERLOADS,
    kubernetes_lists::OVERLOADS,
    lists::OVERLOADS,
    named_format::OVERLOADS,
    operators::OVERLOADS,
    optionals::OVERLOADS,
    quantity::OVERLOADS,
    regex::OVERLOADS,
    semver::OVERLOADS,
    sets::OVERLOADS,
    strings::OVERLOADS,
    times::OVERLOADS,
    url::OVERLOADS,
];

/// The implementation of a call.
#[derive(Clone, Copy)]
pub(crate) enum Implementation {
    /// One function for all overloads, for the values that it accepts.
    Single(Function, operators::Accepts),
    /// One overload.
    Overload(&'static str, Function),
    /// The first overload that fits the values.
    Dispatch(&'static str),
}

/// The implementation of a call of `overload`, or of one of several without it.
pub(crate) fn implementation(function: &str, overload: Option<&str>, functions: &Functions) -> Option<Implementation> {
    if let Some((_, call, accepts)) = operators::SINGLES.iter().find(|(name, ..)| *name == function) {
        return Some(Implementation::Single(*call, *accepts));
    }
    let (name, overloads) = functions.get(function)?;
    match overload {
        Some(id) => {
            let overload = overloads.iter().find(|overload| overload.id == id)?;
            Some(Implementation::Overload(overload.id, find(overload.id)?))
        }
        None if overloads.len() == 1 => Some(Implementation::Overload(overloads[0].id, find(overloads[0].id)?)),
        None => Some(Implementation::Dispatch(name)),
    }
}

fn find(id: &str) -> Option<Function> {
    TABLES.iter().flat_map(|table| table.iter()).find(|(name, _)| *name == id).map(|(_, call)| *call)
}

/// Calls a function.
pub(crate) fn call(implementation: Implementation, function: &str, args: &[Value], functions: &Functions) -> Outcome {
    match implementation {
        Implementation::Single(call, accepts) => match args.first() {
            Some(first) if accepts(first) => call(args),
            Some(Value::String(_) | Value::Timestamp(_) | Value::Duration(_)) => no_such_overload(),
            _ => fail(format!("no such overload: {function}")),
        },
        Implementation::Overload(id, call) => {
            let overload = functions.get(function).and_then(|(_, all)| all.iter().find(|overload| overload.id == id));
            match overload.is_none_or(|overload| fits(function, overload, args)) {
                true => call(args),
                false => fail(format!("no such overload: {function}({})", signature(args))),
            }
        }
        Implementation::Dispatch(name) => {
            let overloads = functions.get(name).map_or(&[][..], |(_, all)| all);
            for overload in overloads.iter().filter(|overload| fits(name, overload, args)) {
                if let Some(call) = find(overload.id) {
                    return call(args);
                }
            }
            fail(format!("no such overload: {function}({})", signature(args)))
        }
    }
}

fn signature(args: &[Value]) -> String {
    let names: Vec<String> = args.iter().map(|arg| arg.type_of().name().to_owned()).collect();
    names.join(", ")
}

/// Whether values have the types that an overload declares. Some functions check them themselves.
fn fits(function: &str, overload: &Overload, args: &[Value]) -> bool {
    overload.args.len() == args.len()
        && (matches!(function, "contains" | "endsWith" | "startsWith" | "flatten")
            || overload.args.iter().zip(args).all(|(t, arg)| is_of(t, arg)))
}

fn is_of(t: &Type, value: &Value) -> bool {
    match (t, value) {
        (Type::Dyn | Type::Param(_), _) => true,
        (Type::List(element), Value::List(list)) => list.items().first().is_none_or(|item| is_of(element, item)),
        (Type::Map(key, of), Value::Map(map @ (Map::Plain(_) | Map::Object(_)))) => {
            map.entries().first().is_none_or(|(k, v)| is_of(key, k) && is_of(of, v))
        }
        _ => t.name() == value.type_of().name(),
    }
}

fn no_overload() -> Outcome {
    no_such_overload()
}

/// The text of a string argument.
fn text(value: &Value) -> Outcome<&str> {
    match value {
        Value::String(text) => Ok(text),
        _ => no_such_overload(),
    }
}

fn int(value: &Value) -> Outcome<i64> {
    match value {
        Value::Int(value) => Ok(*value),
        _ => no_such_overload(),
    }
}
