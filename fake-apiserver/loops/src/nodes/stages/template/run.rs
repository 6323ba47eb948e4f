//! Templates at work, as `text/template/exec.go` does it.

use super::functions::Surroundings;
use super::{Data, Function, Kind, Node, Operand, Pipe, print};
use tree::Value;

/// The text that nodes make of an object.
pub(super) fn run(nodes: &[Node], object: &Value, around: &Surroundings<'_>) -> Result<String, String> {
    let root = Data::Json(object.clone());
    let mut runner = Runner { variables: vec![(String::new(), root.clone())], text: String::new(), around };
    runner.list(nodes, &root)?;
    Ok(runner.text)
}

struct Runner<'a> {
    /// The variables, the last ones first; that of `$` has no name.
    variables: Vec<(String, Data)>,
    text: String,
    around: &'a Surroundings<'a>,
}

impl Runner<'_> {
    fn list(&mut self, nodes: &[Node], dot: &Data) -> Result<(), String> {
        for node in nodes {
            match node {
                Node::Text(text) => self.text.push_str(text),
                Node::Action(pipe) => {
                    let value = self.pipe(pipe, dot)?;
                    match pipe.variables.first() {
                        Some(name) => self.set(name, value, pipe.assigns),
                        None => self.text.push_str(&print::value(&value)),
                    }
                }
                Node::Block { kind, pipe, then, otherwise } => {
                    let before = self.variables.len();
                    let value = self.pipe(pipe, dot)?;
                    match kind {
                        Kind::Range => self.range(pipe, value, then, otherwise, dot)?,
                        Kind::If | Kind::With => {
                            let is_true = is_true(&value);
                            let inner = if *kind == Kind::With { value.clone() } else { dot.clone() };
                            if let Some(name) = pipe.variables.first() {
                                self.set(name, value, pipe.assigns);
                            }
                            match is_true {
                                true => self.list(then, &inner)?,
                                false => self.list(otherwise, dot)?,
                            }
                        }
                    }
                    self.variables.truncate(before);
                }
            }
        }
        Ok(())
    }

    fn range(&mut self, pipe: &Pipe, value: Data, then: &[Node], otherwise: &[Node], dot: &Data) -> Result<(), String> {
        let items: Vec<(Data, Data)> = match value {
            Data::Nothing | Data::Json(Value::Null) => Vec::new(),
            Data::Int(count) => (0..count).map(|index| (Data::Int(index), Data::Int(index))).collect(),
            Data::Json(Value::Array(items)) => {
                (0..).zip(items).map(|(index, item)| (Data::Int(index), Data::Json(item))).collect()
            }
            Data::Json(Value::Object(fields)) => {
                let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                fields.sort_by(|(one, _), (other, _)| one.cmp(other));
                fields.into_iter().map(|(name, value)| (Data::Json(name.into()), Data::Json(value))).collect()
            }
            other => return self.fail(pipe, format!("range can't iterate over {}", print::value(&other))),
        };
        if items.is_empty() {
            return self.list(otherwise, dot);
        }
        for (index, item) in items {
            let before = self.variables.len();
            let item = named(item);
            match &*pipe.variables {
                [] => {}
                [one] => self.set(one, item.clone(), pipe.assigns),
                [first, second, ..] => {
                    self.set(first, index, pipe.assigns);
                    self.set(second, item.clone(), pipe.assigns);
                }
            }
            self.list(then, &item)?;
            self.variables.truncate(before);
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: Data, assigns: bool) {
        let known = self.variables.iter_mut().rev().find(|(other, _)| assigns && other == name);
        match known {
            Some((_, known)) => *known = value,
            None => self.variables.push((name.to_owned(), value)),
        }
    }

    fn fail<T>(&self, pipe: &Pipe, message: String) -> Result<T, String> {
        Err(format!("line {} of the template: {message}", pipe.line + 1))
    }

    fn pipe(&mut self, pipe: &Pipe, dot: &Data) -> Result<Data, String> {
        let mut last = None;
        for command in &pipe.commands {
            let value = match command.first() {
                Some(Operand::Function(function)) => self.call(*function, &command[1..], last, dot),
                Some(operand) => self.operand(operand, dot),
                None => Ok(Data::Nothing),
            };
            let value = value.or_else(|message| match message.starts_with("line ") {
                true => Err(message),
                false => self.fail(pipe, message),
            });
            last = Some(named(value?));
        }
        Ok(last.unwrap_or(Data::Nothing))
    }

    fn call(
        &mut self,
        function: Function,
        operands: &[Operand],
        last: Option<Data>,
        dot: &Data,
    ) -> Result<Data, String> {
        let mut arguments = Vec::new();
        for operand in operands {
            let argument = self.operand(operand, dot)?;
            let decides = match function {
                Function::And => !is_true(&argument),
                Function::Or => is_true(&argument),
                _ => false,
            };
            if decides {
                return Ok(argument);
            }
            arguments.push(argument);
        }
        arguments.extend(last);
        function.call(arguments, self.around).map_err(|message| match message.starts_with("wrong number of args") {
            true => message,
            false => format!("error calling {}: {message}", function.name()),
        })
    }

    fn operand(&mut self, operand: &Operand, dot: &Data) -> Result<Data, String> {
        match operand {
            Operand::Constant(data) => Ok(data.clone()),
            Operand::Function(function) => self.call(*function, &[], None, dot),
            Operand::Path(None, fields) => chain(dot, fields),
            Operand::Path(Some(name), fields) => {
                let found = self.variables.iter().rev().find(|(other, _)| other == name);
                chain(found.map_or(&Data::Nothing, |(_, value)| value), fields)
            }
            Operand::Pipe(pipe, fields) => {
                let value = self.pipe(pipe, dot)?;
                chain(&value, fields)
            }
        }
    }
}

/// The field of a field.
fn chain(data: &Data, fields: &[String]) -> Result<Data, String> {
    let mut data = data.clone();
    for field in fields {
        data = match data {
            Data::Nothing => Data::Nothing,
            Data::Json(Value::Object(map)) => map.get(field).map_or(Data::Nothing, |value| Data::Json(value.clone())),
            Data::Json(Value::Null) => return Err(format!("nil pointer evaluating interface {{}}.{field}")),
            Data::Json(_) => return Err(format!("can't evaluate field {field} in type interface {{}}")),
            Data::Int(_) => return Err(format!("can't evaluate field {field} in type int")),
        };
    }
    Ok(data)
}

/// The value of a pipeline: null is none.
fn named(data: Data) -> Data {
    match data {
        Data::Json(Value::Null) => Data::Nothing,
        data => data,
    }
}

/// Whether a value is true, as `template.IsTrue` has it: a number of an object is a text that is not empty.
pub(super) fn is_true(data: &Data) -> bool {
    match data {
        Data::Nothing | Data::Json(Value::Null) => false,
        Data::Int(number) => *number != 0,
        Data::Json(Value::Bool(flag)) => *flag,
        Data::Json(Value::String(text)) => !text.is_empty(),
        Data::Json(Value::Array(items)) => !items.is_empty(),
        Data::Json(Value::Object(fields)) => !fields.is_empty(),
        Data::Json(Value::Number(_) | Value::Raw(_)) => true,
    }
}
