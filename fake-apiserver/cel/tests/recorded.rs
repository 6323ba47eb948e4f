//! The results of this crate for expressions, compared with those of Kubernetes' own CEL, recorded by `cargo xtask schema`.

use kubernetes_cel::{
    Authorizer, Bindings, Budget, Decision, Declarations, Declared, Environment, EvalError, Expression, PER_CALL_LIMIT,
    Request, Schema, Sizes, Stage, Type, UnknownSizes, User, Value, authorizer,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use tree::{Value as Json, json};

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cel").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn lines(name: &str) -> Vec<Json> {
    fixture(name).lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The declarations and values for an expression.
struct Setting {
    declarations: Declarations,
    declared: Option<Declared>,
    bindings: Bindings,
    schema: Schema,
    value: Json,
    old: Option<Json>,
}

impl Setting {
    /// The bindings, with as much of the resource as the expression reads.
    fn bound(&self, expression: &Expression) -> Bindings {
        let mut bindings = self.bindings.clone();
        if self.declared.is_none() {
            return bindings;
        }
        bindings.set("self", self.schema.part(&self.value, &expression.parts_of("self")));
        let old = |variable| Some(self.schema.part(self.old.as_ref()?, &expression.parts_of(variable)));
        bindings.set("optionalOldSelf", Value::Optional(old("optionalOldSelf").map(Arc::new)));
        if let Some(old) = old("oldSelf") {
            bindings.set("oldSelf", old);
        }
        bindings
    }
}

fn setting(resource: Option<&Json>) -> Setting {
    let mut declarations =
        Declarations::new().variable("authorizer", Type::object("kubernetes.authorization.Authorizer"));
    let mut bindings = Bindings::new();
    bindings.set("authorizer", authorizer(Arc::new(Judge)));
    let Some(resource) = resource else {
        let (schema, value) = (Schema::default(), Json::Null);
        return Setting { declarations, declared: None, bindings, schema, value, old: None };
    };
    let schema = Schema::from_json(&resource["schema"]);
    let root = resource["root"].as_bool().unwrap_or(false);
    let declared = schema.declare(root).expect("a type").named("selfType");
    let t = declared.to_type();
    declarations = declarations
        .types_of(&declared)
        .variable("self", t.clone())
        .variable("oldSelf", t.clone())
        .variable("optionalOldSelf", Type::optional(t));
    let (value, old) = (resource["value"].clone(), resource.get("old").cloned());
    Setting { declarations, declared: Some(declared), bindings, schema, value, old }
}

/// The authorizer of the recordings: allows names that begin with an a, and fails for those that begin with an e.
#[derive(Debug)]
struct Judge;

impl Authorizer for Judge {
    fn authorize(&self, user: &User, request: &Request) -> Decision {
        let subject = match &request.resource {
            Some(resource) => resource.as_str(),
            None => request.path.strip_prefix('/').unwrap_or(&request.path),
        };
        let name = match user {
            User::Requester => "alice".to_owned(),
            User::ServiceAccount { namespace, name } => format!("system:serviceaccount:{namespace}:{name}"),
        };
        let version = if request.resource.is_some() { "*" } else { "" };
        let Request { verb, path, group, subresource, namespace, name: object, .. } = request;
        let reason = format!("{name} {verb} {subject} {group}/{version}/{namespace}/{object}/{subresource}/{path}");
        let error = subject.starts_with('e').then(|| format!("no answer for {subject}"));
        Decision { allowed: subject.starts_with('a'), reason, error }
    }
}

/// A value as in the recordings.
fn render(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!({"int": value.to_string()}),
        Value::Uint(value) => json!({"uint": value.to_string()}),
        Value::Double(value) if value.is_nan() => json!({"double": "9221120237041090561"}),
        Value::Double(value) => json!({"double": value.to_bits().to_string()}),
        Value::String(text) => json!(&**text),
        Value::Bytes(bytes) => {
            let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            json!({"bytes": hex})
        }
        Value::Timestamp(at) => {
            let utc = kubernetes_cel::Timestamp::from_unix(at.seconds(), at.nanos());
            json!({"timestamp": utc.to_rfc3339()})
        }
        Value::Duration(nanos) => json!({"duration": nanos.to_string()}),
        Value::Type(t) => json!({"type": t.name()}),
        Value::Optional(None) => json!({"optional": []}),
        Value::Optional(Some(value)) => json!({"optional": [render(value)]}),
        Value::Map(map) => {
            let mut entries: Vec<(String, Json, Json)> = map
                .entries()
                .iter()
                .map(|(key, value)| (render(key), render(value)))
                .map(|(key, value)| (key.to_string(), key, value))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            json!({"map": entries.into_iter().map(|(_, key, value)| json!([key, value])).collect::<Vec<_>>()})
        }
        Value::List(list) => Json::Array(list.items().iter().map(render).collect()),
        Value::Opaque(_) => json!({"opaque": value.type_name()}),
        Value::Fault(message) => json!({"fault": &**message}),
    }
}

/// The results of this crate for an expression, in the form of the recordings.
fn run(environment: &Environment, setting: &Setting, record: &Json) -> BTreeMap<&'static str, Json> {
    let mut out = BTreeMap::new();
    let stage = if record["environment"] == "stored" { Stage::Stored } else { Stage::New };
    let text = record["expression"].as_str().unwrap_or_default();
    let expression = match environment.compile(text, &setting.declarations, stage) {
        Ok(expression) => expression,
        Err(error) => {
            out.insert("error", json!(error.to_string()));
            return out;
        }
    };
    out.insert("type", json!(expression.result_type().to_string()));
    let sizes: &(dyn Sizes + Sync) = setting.declared.as_ref().map_or(&UnknownSizes, |declared| declared);
    let estimate = expression.cost_estimate(sizes);
    out.insert("estimate", json!([estimate.min.to_string(), estimate.max.to_string()]));
    let program = match expression.program() {
        Ok(program) => program,
        Err(error) => {
            out.insert("programError", json!(error.to_string()));
            return out;
        }
    };
    let limit = record["limit"].as_str().map_or(PER_CALL_LIMIT, |limit| limit.parse().expect("a number"));
    let mut budget = Budget::new(limit);
    let result = program.evaluate(&setting.bound(&expression), &mut budget);
    match result {
        Ok(value) => out.insert("result", render(&value)),
        Err(error) => out.insert("failure", json!(error.to_string())),
    };
    out.insert("cost", json!(budget.cost().to_string()));
    out
}

#[test]
fn expressions_are_what_kubernetes_makes_of_them() {
    let resources: BTreeMap<String, Json> =
        lines("schemas.jsonl").into_iter().map(|r| (r["name"].as_str().unwrap_or_default().to_owned(), r)).collect();
    let settings: BTreeMap<String, Setting> =
        resources.iter().map(|(name, resource)| (name.clone(), setting(Some(resource)))).collect();
    let bare = setting(None);
    let environment = Environment::new();
    let records = lines("recorded.jsonl");
    let mut differences = String::new();
    let mut count = 0;
    for record in &records {
        let setting = record["schema"].as_str().map_or(&bare, |name| &settings[name]);
        let made = run(&environment, setting, record);
        let mut wrong = String::new();
        for key in ["error", "type", "estimate", "programError", "result", "failure", "cost"] {
            let (expected, found) = (record.get(key), made.get(key));
            if expected != found {
                let shown = |value: Option<&Json>| match value {
                    Some(Json::String(text)) => text.to_string(),
                    Some(other) => other.to_string(),
                    None => "nothing".to_owned(),
                };
                let _ = write!(wrong, "\n  {key}:\n    expected {}\n    found    {}", shown(expected), shown(found));
            }
        }
        if !wrong.is_empty() {
            count += 1;
            let schema = record["schema"].as_str().unwrap_or("no schema");
            let _ = writeln!(differences, "{} ({schema}){wrong}\n", record["expression"]);
        }
    }
    assert!(records.len() >= 600, "only {} expressions are recorded", records.len());
    assert!(count == 0, "{count} of {} expressions differ:\n{differences}", records.len());
}

#[test]
fn an_interrupt_ends_comprehensions() {
    let environment = Environment::new();
    let text = "lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))";
    let expression = environment.compile(text, &Declarations::new(), Stage::New).expect("compiles");
    let program = expression.program().expect("plans");
    let interrupt = || true;
    let mut budget = Budget::new(PER_CALL_LIMIT).interrupted_by(&interrupt);
    let result = program.evaluate(&Bindings::new(), &mut budget);
    assert_eq!(result.err(), Some(EvalError::Interrupted));
    assert!(budget.cost() < 10_000, "it went on for {} units", budget.cost());
}
