//! Templates of stages: the part of Go's `text/template` (1.26) that stages are written in.
//!
//! ```text
//!   text ── scan.rs ──▶ texts and actions ── parse.rs ──▶ nodes ── run.rs, functions.rs ──▶ text
//! ```
//! Actions are `if`, `with`, `range`, their `else`, variables, and pipelines of functions. What is left out (`define`, `break`, functions that no
//! stage of kwok's own calls) is refused by name as a template is read. Values are those of `encoding/json` with `UseNumber`, so that a number of
//! an object is a text to Go, and one of the template is not.

mod functions;
mod parse;
mod print;
mod run;
mod scan;

pub(super) use functions::Surroundings;

use functions::Function;
use tree::Value;

/// A template.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template(Vec<Node>);

/// A mistake in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The line, from 0.
    pub(super) line: usize,
    pub(super) message: String,
}

type Read<T> = Result<T, Mistake>;

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Text(String),
    Action(Pipe),
    Block { kind: Kind, pipe: Pipe, then: Vec<Node>, otherwise: Vec<Node> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    If,
    With,
    Range,
}

/// Commands, each of which gets what the one before it returns.
#[derive(Debug, Clone, PartialEq)]
struct Pipe {
    /// The variables that get the value, and whether they are there already.
    variables: Vec<String>,
    assigns: bool,
    commands: Vec<Vec<Operand>>,
    line: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    /// `.a.b`, or `$x.a.b`.
    Path(Option<String>, Vec<String>),
    Constant(Data),
    Function(Function),
    /// `(…).a.b`
    Pipe(Box<Pipe>, Vec<String>),
}

/// A value as Go has it.
#[derive(Debug, Clone, PartialEq)]
enum Data {
    /// No value: what is not there, and nil.
    Nothing,
    Json(Value),
    /// A number of the template.
    Int(i64),
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// The mistake in it.
    pub(super) fn parse(text: &str) -> Read<Template> {
        Ok(Template(parse::nodes(scan::pieces(text)?)?))
    }

    /// The text that it makes of an object.
    ///
    /// # Errors
    /// Go's words for what it cannot do with the object.
    pub(super) fn render(&self, object: &Value, around: &Surroundings<'_>) -> Result<String, String> {
        run::run(&self.0, object, around)
    }
}

#[cfg(test)]
mod tests;
