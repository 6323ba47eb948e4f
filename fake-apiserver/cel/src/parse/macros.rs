//! Expansion of macros.
//!
//! Port of `parser/macro.go`, `cel/library.go` (optMap, optFlatMap), `ext/comprehensions.go` and `ext/bindings.go` of cel-go v0.29.2.

use super::build::Builder;
use crate::ast::{ACCUMULATOR, Call, Comprehension, Entry, Expr, Id, Kind, List, Select};
use crate::value::Value;

/// The accumulator's name in older expressions, which variables may not have.
const OLD_ACCUMULATOR: &str = "__result__";

/// The expansion of a macro, or the error with its place.
type Expanded = Result<Expr, Refused>;

type Refused = (Id, String);

/// A maker of expressions at the place of a macro.
struct Maker<'a, 'b> {
    builder: &'a mut Builder<'b>,
    at: Option<usize>,
}

impl Maker<'_, '_> {
    fn make(&mut self, kind: Kind) -> Expr {
        Expr { id: self.builder.id(self.at), kind }
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.make(Kind::Ident(name.to_owned()))
    }

    fn accu(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn literal(&mut self, value: Value) -> Expr {
        self.make(Kind::Literal(value))
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.make(Kind::Call(Call { target: None, function: function.to_owned(), args }))
    }

    fn member(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expr {
        self.make(Kind::Call(Call { target: Some(Box::new(target)), function: function.to_owned(), args }))
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.make(Kind::List(List { elements, optional: Vec::new() }))
    }

    fn fold(&mut self, range: Expr, vars: Vars, [init, condition, step, result]: [Expr; 4]) -> Expr {
        let accu = vars.accu.unwrap_or_else(|| ACCUMULATOR.to_owned());
        let comprehension =
            Comprehension { range, var: vars.first, var2: vars.second, accu, init, condition, step, result };
        self.make(Kind::Comprehension(Box::new(comprehension)))
    }
}

/// The variables of a comprehension.
struct Vars {
    first: String,
    second: Option<String>,
    accu: Option<String>,
}

impl Vars {
    fn one(first: String) -> Self {
        Self { first, second: None, accu: None }
    }
}

/// Expands a call of a macro.
pub(super) fn expand(
    builder: &mut Builder<'_>,
    id: Id,
    function: &str,
    target: Option<&Expr>,
    args: &[Expr],
) -> Option<Expanded> {
    let at = builder.place(id);
    let maker = &mut Maker { builder, at };
    let args = args.to_vec();
    Some(match (function, target, args.len()) {
        ("has", None, 1) => has(maker, args),
        ("all" | "exists" | "exists_one", Some(range), 2) => quantifier(maker, function, range, args),
        ("all" | "exists" | "existsOne" | "exists_one", Some(range), 3) => quantifier(maker, function, range, args),
        ("map", Some(range), 2 | 3) => map(maker, range, args),
        ("filter", Some(range), 2) => filter(maker, range, args),
        ("transformList", Some(range), 3 | 4) => transform_list(maker, range, args),
        ("transformMap", Some(range), 3 | 4) => transform_map(maker, true, range, args),
        ("transformMapEntry", Some(range), 3 | 4) => transform_map(maker, false, range, args),
        ("sortBy", Some(target), 2) => sort_by(maker, target, args),
        ("optMap" | "optFlatMap", Some(target), 2) => optional(maker, function == "optMap", target, args),
        ("bind", Some(target), 3) if maker.builder.binds && is_cel(target) => bind(maker, args),
        _ => return None,
    })
}

fn is_cel(target: &Expr) -> bool {
    matches!(&target.kind, Kind::Ident(name) if name == "cel")
}

fn bind(maker: &mut Maker<'_, '_>, args: Vec<Expr>) -> Expanded {
    let var = name(&args[0], "cel.bind() variable names must be simple identifiers")?;
    let [_, init, result] = <[Expr; 3]>::try_from(args).map_err(|_| (0, String::new()))?;
    let range = maker.list(Vec::new());
    let condition = maker.literal(Value::Bool(false));
    let step = maker.ident(&var);
    let vars = Vars { first: "#unused".to_owned(), second: None, accu: Some(var) };
    Ok(maker.fold(range, vars, [init, condition, step, result]))
}

fn has(maker: &mut Maker<'_, '_>, mut args: Vec<Expr>) -> Expanded {
    let arg = args.remove(0);
    match arg.kind {
        Kind::Select(select) => Ok(maker.make(Kind::Select(Select { test_only: true, ..select }))),
        _ => Err((arg.id, "invalid argument to has() macro".to_owned())),
    }
}

fn name(arg: &Expr, otherwise: &str) -> Result<String, Refused> {
    match &arg.kind {
        Kind::Ident(name) => Ok(name.clone()),
        _ => Err((arg.id, otherwise.to_owned())),
    }
}

/// Refuses a variable that would hide the accumulator.
fn checked(arg: &Expr, name: String) -> Result<String, Refused> {
    match name == ACCUMULATOR || name == OLD_ACCUMULATOR {
        true => Err((arg.id, "iteration variable overwrites accumulator variable".to_owned())),
        false => Ok(name),
    }
}

/// The variables of a quantifier with one or two variables.
fn quantified(args: &[Expr]) -> Result<Vars, Refused> {
    match args {
        [var, _] => name(var, "argument must be a simple name").and_then(|name| checked(var, name)).map(Vars::one),
        _ => two(args),
    }
}

/// The variables of a macro with two variables.
fn two(args: &[Expr]) -> Result<Vars, Refused> {
    let first = name(&args[0], "argument must be a simple name")?;
    let second = name(&args[1], "argument must be a simple name")?;
    if first == second {
        return Err((args[1].id, format!("duplicate variable name: {first}")));
    }
    let (first, second) = (checked(&args[0], first)?, checked(&args[1], second)?);
    Ok(Vars { first, second: Some(second), accu: None })
}

fn quantifier(maker: &mut Maker<'_, '_>, function: &str, range: &Expr, mut args: Vec<Expr>) -> Expanded {
    let vars = quantified(&args)?;
    let predicate = args.remove(args.len() - 1);
    let parts = match function {
        "all" => {
            let init = maker.literal(Value::Bool(true));
            let accu = maker.accu();
            let condition = maker.call("@not_strictly_false", vec![accu]);
            let accu = maker.accu();
            let step = maker.call("_&&_", vec![accu, predicate]);
            [init, condition, step, maker.accu()]
        }
        "exists" => {
            let init = maker.literal(Value::Bool(false));
            let accu = maker.accu();
            let not = maker.call("!_", vec![accu]);
            let condition = maker.call("@not_strictly_false", vec![not]);
            let accu = maker.accu();
            let step = maker.call("_||_", vec![accu, predicate]);
            [init, condition, step, maker.accu()]
        }
        _ => {
            let init = maker.literal(Value::Int(0));
            let condition = maker.literal(Value::Bool(true));
            let (accu, one) = (maker.accu(), maker.literal(Value::Int(1)));
            let more = maker.call("_+_", vec![accu, one]);
            let accu = maker.accu();
            let step = maker.call("_?_:_", vec![predicate, more, accu]);
            let (accu, one) = (maker.accu(), maker.literal(Value::Int(1)));
            [init, condition, step, maker.call("_==_", vec![accu, one])]
        }
    };
    Ok(maker.fold(range.clone(), vars, parts))
}

fn map(maker: &mut Maker<'_, '_>, range: &Expr, mut args: Vec<Expr>) -> Expanded {
    let var = checked(&args[0], name(&args[0], "argument is not an identifier")?)?;
    let transform = args.remove(args.len() - 1);
    let predicate = (args.len() == 2).then(|| args.remove(1));
    Ok(collect(maker, range, Vars::one(var), predicate, transform))
}

/// A list of `transform` of the elements for which the predicate holds.
fn collect(maker: &mut Maker<'_, '_>, range: &Expr, vars: Vars, predicate: Option<Expr>, transform: Expr) -> Expr {
    let init = maker.list(Vec::new());
    let condition = maker.literal(Value::Bool(true));
    let accu = maker.accu();
    let one = maker.list(vec![transform]);
    let mut step = maker.call("_+_", vec![accu, one]);
    if let Some(predicate) = predicate {
        let accu = maker.accu();
        step = maker.call("_?_:_", vec![predicate, step, accu]);
    }
    let result = maker.accu();
    maker.fold(range.clone(), vars, [init, condition, step, result])
}

fn filter(maker: &mut Maker<'_, '_>, range: &Expr, mut args: Vec<Expr>) -> Expanded {
    let var = checked(&args[0], name(&args[0], "argument is not an identifier")?)?;
    let predicate = args.remove(1);
    let element = args.remove(0);
    Ok(collect(maker, range, Vars::one(var), Some(predicate), element))
}

fn transform_list(maker: &mut Maker<'_, '_>, range: &Expr, mut args: Vec<Expr>) -> Expanded {
    let vars = two(&args)?;
    let transform = args.remove(args.len() - 1);
    let predicate = (args.len() == 3).then(|| args.remove(2));
    Ok(collect(maker, range, vars, predicate, transform))
}

fn transform_map(maker: &mut Maker<'_, '_>, with_key: bool, range: &Expr, mut args: Vec<Expr>) -> Expanded {
    let vars = two(&args)?;
    let transform = args.remove(args.len() - 1);
    let predicate = (args.len() == 3).then(|| args.remove(2));
    let init = maker.make(Kind::Map(Vec::<Entry>::new()));
    let condition = maker.literal(Value::Bool(true));
    let mut inserted = vec![maker.accu()];
    if with_key {
        inserted.push(maker.ident(&vars.first));
    }
    inserted.push(transform);
    let mut step = maker.call("cel.@mapInsert", inserted);
    if let Some(predicate) = predicate {
        let accu = maker.accu();
        step = maker.call("_?_:_", vec![predicate, step, accu]);
    }
    let result = maker.accu();
    Ok(maker.fold(range.clone(), vars, [init, condition, step, result]))
}

fn optional(maker: &mut Maker<'_, '_>, wraps: bool, target: &Expr, mut args: Vec<Expr>) -> Expanded {
    let function = if wraps { "optMap" } else { "optFlatMap" };
    let var = name(&args[0], &format!("{function}() variable name must be a simple identifier"))?;
    let transform = args.remove(1);
    let has_value = maker.member("hasValue", target.clone(), Vec::new());
    let range = maker.list(Vec::new());
    let copy = maker.builder.copy(target);
    let init = maker.member("value", copy, Vec::new());
    let condition = maker.literal(Value::Bool(false));
    let step = maker.ident(&var);
    let vars = Vars { first: "#unused".to_owned(), second: None, accu: Some(var) };
    let mut some = maker.fold(range, vars, [init, condition, step, transform]);
    if wraps {
        some = maker.call("optional.of", vec![some]);
    }
    let none = maker.call("optional.none", Vec::new());
    Ok(maker.call("_?_:_", vec![has_value, some, none]))
}

fn sort_by(maker: &mut Maker<'_, '_>, target: &Expr, args: Vec<Expr>) -> Expanded {
    const INPUT: &str = "@__sortBy_input__";
    if !matches!(target.kind, Kind::List(_) | Kind::Select(_) | Kind::Ident(_) | Kind::Comprehension(_) | Kind::Call(_))
    {
        let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return Err((target.id, message.to_owned()));
    }
    let input = maker.ident(INPUT);
    let copy = maker.ident(INPUT);
    let keys = map(maker, &copy, args)?;
    let copy = maker.ident(INPUT);
    let sorted = maker.member("@sortByAssociatedKeys", copy, vec![keys]);
    let range = maker.list(Vec::new());
    let condition = maker.literal(Value::Bool(false));
    let vars = Vars { first: "#unused".to_owned(), second: None, accu: Some(INPUT.to_owned()) };
    Ok(maker.fold(range, vars, [target.clone(), condition, input, sorted]))
}
