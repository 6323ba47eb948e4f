//! Stages as objects have them. What is not supported is refused by its place.

use super::query::Query;
use super::template::Template;
use super::{Delay, Operator, Requirement, Selector, Stage, Stageable, Step};
use crate::act::PatchType;
use crate::workloads::facts::read;
use machinery::object::meta;
use std::time::Duration;
use tree::{Map, Value};

/// The error in a stage, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    /// The fields on the way.
    pub(super) way: Vec<String>,
    /// The line of the text there, from 0.
    pub(super) line: usize,
    pub(super) message: String,
}

type Read<T> = Result<T, Wrong>;

/// A value, with the way to it.
#[derive(Clone)]
struct At<'v> {
    value: &'v Value,
    way: Vec<String>,
}

const NONE: &Value = &Value::Null;

impl<'v> At<'v> {
    fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(Wrong { way: self.way.clone(), line: 0, message: message.into() })
    }

    fn field(&self, name: &str) -> At<'v> {
        let way = self.way.iter().cloned().chain([name.to_owned()]).collect();
        At { value: self.value.get(name).unwrap_or(NONE), way }
    }

    /// The field, if it is there.
    fn given(&self, name: &str) -> Option<At<'v>> {
        Some(self.field(name)).filter(|field| !field.value.is_null())
    }

    /// Whether it has these fields, and no others.
    fn knows(&self, fields: &[&str]) -> Read<()> {
        let Some(map) = self.value.as_object() else {
            return self.fail(format!("expected an object, found {}", machinery::schema::json_type(self.value)));
        };
        match map.keys().find(|name| !fields.contains(&&***name)) {
            Some(name) => self.field(name).fail(format!("{name} is not supported here")),
            None => Ok(()),
        }
    }

    fn text(&self) -> Read<&'v str> {
        match self.value {
            Value::Null => Ok(""),
            Value::String(text) => Ok(text),
            other => self.fail(format!("expected a text, found {}", machinery::schema::json_type(other))),
        }
    }

    fn flag(&self) -> Read<bool> {
        match self.value {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(*flag),
            other => self.fail(format!("expected true or false, found {}", machinery::schema::json_type(other))),
        }
    }

    /// A number that is not negative.
    fn number(&self) -> Read<u64> {
        match (self.value, self.value.as_u64()) {
            (Value::Null, _) => Ok(0),
            (_, Some(number)) => Ok(number),
            _ => self.fail("expected a whole number that is not negative"),
        }
    }

    fn items(&self) -> Read<Vec<At<'v>>> {
        let items = match self.value {
            Value::Null => &[][..],
            Value::Array(items) => items,
            other => return self.fail(format!("expected a list, found {}", machinery::schema::json_type(other))),
        };
        let item = |(index, value): (usize, &'v Value)| {
            let way = self.way.iter().cloned().chain([index.to_string()]).collect();
            At { value, way }
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    fn pairs(&self) -> Read<Vec<(String, String)>> {
        let none = Map::new();
        let fields = match self.value {
            Value::Null => &none,
            Value::Object(fields) => fields,
            other => return self.fail(format!("expected an object, found {}", machinery::schema::json_type(other))),
        };
        fields.keys().map(|name| Ok((name.to_string(), self.field(name).text()?.to_owned()))).collect()
    }

    fn query(&self) -> Read<Query> {
        Query::parse(self.text()?).or_else(|message| self.fail(message))
    }

    fn template(&self) -> Read<Template> {
        let text = self.text()?;
        // Blanks around it do not count, but its lines do.
        let before = text.len() - text.trim_start().len();
        let lines = text[..before].matches('\n').count();
        Template::parse(text.trim()).map_err(|mistake| Wrong {
            way: self.way.clone(),
            line: mistake.line + lines,
            message: mistake.message,
        })
    }
}

/// Reads a stage.
pub(super) fn stage(object: &Value) -> Read<Stage> {
    let root = At { value: object, way: Vec::new() };
    root.knows(&["apiVersion", "kind", "metadata", "spec", "status"])?;
    let spec = root.field("spec");
    spec.knows(&["resourceRef", "selector", "weight", "weightFrom", "delay", "next", "steps", "immediateNextStage"])?;
    spec.field("immediateNextStage").flag()?;
    let about = about(&spec.field("resourceRef"))?;
    Ok(Stage {
        name: meta::name(object).to_owned(),
        about,
        selector: spec.given("selector").map(|at| selector(&at)).transpose()?,
        weight: i64::try_from(spec.field("weight").number()?).unwrap_or(i64::MAX),
        weight_from: spec.given("weightFrom").map(|at| expression(&at)).transpose()?,
        delay: spec.given("delay").map(|at| delay(&at)).transpose()?,
        steps: steps(&spec)?,
    })
}

fn about(at: &At<'_>) -> Read<Stageable> {
    at.knows(&["apiGroup", "kind"])?;
    let group = at.field("apiGroup").text()?;
    match (group, at.field("kind").text()?) {
        ("v1" | "", "Pod") => Ok(Stageable::Pod),
        ("v1" | "", "Node") => Ok(Stageable::Node),
        ("", kind) => at.fail(format!("stages of {kind} are not supported: only those of Pod and Node in v1")),
        (_, kind) => {
            at.fail(format!("stages of {kind} in {group} are not supported: only those of Pod and Node in v1"))
        }
    }
}

fn selector(at: &At<'_>) -> Read<Selector> {
    at.knows(&["matchLabels", "matchAnnotations", "matchExpressions"])?;
    let requirements = at.field("matchExpressions").items()?;
    Ok(Selector {
        labels: at.field("matchLabels").pairs()?,
        annotations: at.field("matchAnnotations").pairs()?,
        requirements: requirements.iter().map(requirement).collect::<Read<_>>()?,
    })
}

fn requirement(at: &At<'_>) -> Read<Requirement> {
    at.knows(&["key", "operator", "values", "jq"])?;
    let at = match at.given("jq") {
        Some(jq) => {
            jq.knows(&["key", "operator", "values"])?;
            jq
        }
        None => at.clone(),
    };
    let query = at.field("key").query()?;
    let values: Vec<String> =
        at.field("values").items()?.iter().map(|value| value.text().map(str::to_owned)).collect::<Read<_>>()?;
    let operator = match at.field("operator").text()? {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => return at.field("operator").fail(format!("the operator {other:?} is not supported")),
    };
    match (operator, values.is_empty()) {
        (Operator::In | Operator::NotIn, true) => {
            at.field("values").fail("for 'in', 'notin' operators, values set can't be empty")
        }
        (Operator::Exists | Operator::DoesNotExist, false) => {
            at.field("values").fail("values set must be empty for exists and does not exist")
        }
        _ => Ok(Requirement { query, operator, values }),
    }
}

/// A query in one of its two places.
fn expression(at: &At<'_>) -> Read<Query> {
    at.knows(&["expressionFrom", "jq"])?;
    match at.given("jq") {
        Some(jq) => {
            jq.knows(&["expression"])?;
            jq.field("expression").query()
        }
        None => at.field("expressionFrom").query(),
    }
}

fn delay(at: &At<'_>) -> Read<Delay> {
    at.knows(&["durationMilliseconds", "durationFrom", "jitterDurationMilliseconds", "jitterDurationFrom"])?;
    let from = |name: &str| at.given(name).map(|at| expression(&at)).transpose();
    let end = at.given("jitterDurationMilliseconds").map(|at| at.number()).transpose()?;
    Ok(Delay {
        duration: Duration::from_millis(at.field("durationMilliseconds").number()?),
        duration_from: from("durationFrom")?,
        end: end.map(Duration::from_millis),
        end_from: from("jitterDurationFrom")?,
    })
}

/// The steps: those that are listed, or what `next` says, in the order of kwok.
fn steps(spec: &At<'_>) -> Read<Vec<Step>> {
    let listed = spec.field("steps").items()?;
    if !listed.is_empty() {
        return listed.iter().map(step).collect::<Read<Vec<_>>>().map(|steps| steps.concat());
    }
    let Some(next) = spec.given("next") else { return Ok(Vec::new()) };
    next.knows(&["event", "finalizers", "delete", "patches", "statusTemplate", "statusSubresource"])?;
    let mut steps = Vec::new();
    steps.extend(next.given("event").map(|at| event(&at)).transpose()?);
    steps.extend(next.given("finalizers").map(|at| finalizers(&at)).transpose()?);
    let patches = next.field("patches").items()?;
    for one in &patches {
        steps.push(patch(one)?);
    }
    let template = next.field("statusTemplate");
    if patches.is_empty() && !template.text()?.is_empty() {
        let subresource = match next.given("statusSubresource") {
            Some(at) => subresource(&at)?,
            None => "status",
        };
        let (root, patch_type) = ("status".to_owned(), PatchType::Strategic);
        steps.push(Step::Patch { subresource, root, template: template.template()?, patch_type });
    }
    if next.field("delete").flag()? {
        steps.push(Step::Delete);
    }
    Ok(steps)
}

/// The parts of one step, in the order in which kwok does them.
fn step(at: &At<'_>) -> Read<Vec<Step>> {
    at.knows(&["event", "finalizers", "delete", "patch"])?;
    let mut steps = Vec::new();
    steps.extend(at.given("event").map(|at| event(&at)).transpose()?);
    steps.extend(at.given("finalizers").map(|at| finalizers(&at)).transpose()?);
    match at.field("delete").flag()? {
        true => steps.push(Step::Delete),
        false => steps.extend(at.given("patch").map(|at| patch(&at)).transpose()?),
    }
    Ok(steps)
}

fn event(at: &At<'_>) -> Read<Step> {
    at.knows(&["type", "reason", "message"])?;
    let warning = match at.field("type").text()? {
        "Normal" => false,
        "Warning" => true,
        other => return at.field("type").fail(format!("an event is Normal or Warning, and not {other:?}")),
    };
    let text = |name: &str| at.field(name).text().map(str::to_owned);
    Ok(Step::Event { warning, reason: text("reason")?, message: text("message")? })
}

fn finalizers(at: &At<'_>) -> Read<Step> {
    at.knows(&["add", "remove", "empty"])?;
    let listed = |name: &str| -> Read<Vec<String>> {
        let value = |item: &At<'_>| {
            item.knows(&["value"])?;
            Ok(read::text(item.value, "/value").to_owned())
        };
        at.field(name).items()?.iter().map(value).collect()
    };
    Ok(Step::Finalizers { add: listed("add")?, remove: listed("remove")?, empty: at.field("empty").flag()? })
}

fn patch(at: &At<'_>) -> Read<Step> {
    at.knows(&["subresource", "root", "template", "type"])?;
    let patch_type = match at.field("type").text()? {
        "" | "strategic" => PatchType::Strategic,
        "merge" => PatchType::Merge,
        "json" => PatchType::Json,
        other => return at.field("type").fail(format!("a patch of the type {other:?} is not supported")),
    };
    Ok(Step::Patch {
        subresource: subresource(&at.field("subresource"))?,
        root: at.field("root").text()?.to_owned(),
        template: at.field("template").template()?,
        patch_type,
    })
}

fn subresource(at: &At<'_>) -> Read<&'static str> {
    match at.text()? {
        "" => Ok(""),
        "status" => Ok("status"),
        other => at.fail(format!("patches of the subresource {other:?} are not supported")),
    }
}
