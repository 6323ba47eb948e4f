//! Queries of stages: the part of jq that stages are written in, as gojq v0.12.19 answers it.
//!
//! ```text
//! query  = step { "|" step }
//! step   = "." path | "select(" query [ ( "==" | "!=" ) value ] ")"
//! path   = { [ "." ] ( name | text | "[]" | "[" ( number | text ) "]" ) }
//! value  = text | number | "true" | "false" | "null"
//! ```

use tree::{Number, Value};

/// A query.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Query(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Item(i64),
    Each,
    /// Goes on with what the query says of it, if that is (not) a value; without one if it is true.
    Select(Query, Option<(bool, Value)>),
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// The part of it that is not supported.
    pub(super) fn parse(text: &str) -> Result<Query, String> {
        let mut reader = Reader { rest: text.trim() };
        let query = reader.query()?;
        match reader.rest {
            "" => Ok(query),
            rest => Err(format!("{rest:?} is not supported in the query {text:?}")),
        }
    }

    /// The answers, without nulls; `None` if the query does not fit the value.
    pub(super) fn ask(&self, value: &Value) -> Option<Vec<Value>> {
        let mut answers = self.all(value)?;
        answers.retain(|answer| !answer.is_null());
        Some(answers)
    }

    fn all(&self, value: &Value) -> Option<Vec<Value>> {
        let mut values = vec![value.clone()];
        for step in &self.0 {
            let mut next = Vec::new();
            for value in values {
                step.take(value, &mut next)?;
            }
            values = next;
        }
        Some(values)
    }
}

impl Step {
    fn take(&self, value: Value, next: &mut Vec<Value>) -> Option<()> {
        let value = value.parsed().into_owned();
        match (self, value) {
            (Step::Field(_) | Step::Item(_), Value::Null) => next.push(Value::Null),
            (Step::Field(name), Value::Object(fields)) => next.push(fields.get(name).cloned().unwrap_or_default()),
            (Step::Item(index), Value::Array(items)) => {
                let length = i64::try_from(items.len()).ok()?;
                let index = if *index < 0 { index.checked_add(length)? } else { *index };
                let found = usize::try_from(index).ok().and_then(|index| items.get(index));
                next.push(found.cloned().unwrap_or_default());
            }
            (Step::Each, Value::Array(items)) => next.extend(items),
            (Step::Each, Value::Object(fields)) => {
                let mut fields: Vec<_> = fields.into_iter().collect();
                fields.sort_by(|(one, _), (other, _)| one.cmp(other));
                next.extend(fields.into_iter().map(|(_, value)| value));
            }
            (Step::Select(query, wanted), value) => {
                let fits = |found: &Value| match wanted {
                    Some((equal, wanted)) => (found == wanted) == *equal,
                    None => !matches!(found, Value::Null | Value::Bool(false)),
                };
                // Once for each answer that fits.
                let count = query.all(&value)?.iter().filter(|found| fits(found)).count();
                next.extend(std::iter::repeat_n(value, count));
            }
            _ => return None,
        }
        Some(())
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn takes(&mut self, text: &str) -> bool {
        let trimmed = self.rest.trim_start();
        match trimmed.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn fail<T>(&self) -> Result<T, String> {
        let rest = self.rest.trim_start();
        match rest {
            "" => Err("a query is not complete".to_owned()),
            rest => Err(format!("{rest:?} is not supported in a query")),
        }
    }

    fn query(&mut self) -> Result<Query, String> {
        let mut steps = Vec::new();
        loop {
            if self.takes("select(") {
                let query = self.query()?;
                let wanted = match (self.takes("=="), self.takes("!=")) {
                    (true, _) => Some((true, self.value()?)),
                    (_, true) => Some((false, self.value()?)),
                    _ => None,
                };
                if !self.takes(")") {
                    return self.fail();
                }
                steps.push(Step::Select(query, wanted));
            } else if self.takes(".") {
                self.path(&mut steps)?;
            } else {
                return self.fail();
            }
            if !self.takes("|") {
                self.rest = self.rest.trim_start();
                return Ok(Query(steps));
            }
        }
    }

    /// The steps of a path, behind its first dot.
    fn path(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        let (mut is_dotted, before) = (true, steps.len());
        loop {
            if let Some(rest) = self.rest.strip_prefix('[') {
                self.rest = rest;
                steps.push(self.brackets()?);
            } else if is_dotted && self.rest.starts_with('"') {
                let name = self.text()?;
                steps.push(Step::Field(name));
            } else if is_dotted && self.rest.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) {
                let end = self.rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
                let (name, rest) = self.rest.split_at(end);
                steps.push(Step::Field(name.to_owned()));
                self.rest = rest;
            } else if is_dotted && steps.len() > before {
                return self.fail();
            } else {
                return Ok(());
            }
            is_dotted = self.rest.starts_with('.');
            if is_dotted {
                self.rest = &self.rest[1..];
            }
        }
    }

    fn brackets(&mut self) -> Result<Step, String> {
        if self.takes("]") {
            return Ok(Step::Each);
        }
        let value = self.value()?;
        if !self.takes("]") {
            return self.fail();
        }
        match value {
            Value::String(name) => Ok(Step::Field(name.to_string())),
            Value::Number(number) if number.is_i64() => Ok(Step::Item(number.as_i64().unwrap_or_default())),
            other => Err(format!("[{other}] is not supported in a query")),
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("true", true.into()), ("false", false.into()), ("null", Value::Null)] {
            if self.takes(word) {
                return Ok(value);
            }
        }
        if self.rest.starts_with('"') {
            return self.text().map(Value::from);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        match number.parse::<i64>() {
            Ok(number) => {
                self.rest = rest;
                Ok(Value::Number(Number::from(number)))
            }
            Err(_) => self.fail(),
        }
    }

    fn text(&mut self) -> Result<String, String> {
        let Some(end) = self.rest[1..].find('"') else { return self.fail() };
        let (text, rest) = self.rest.split_at(end + 2);
        match text.contains('\\') {
            true => self.fail(),
            false => {
                self.rest = rest;
                Ok(text[1..=end].to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn queries_are_answered_as_jq_does() {
        let pod = json!({
            "metadata": {"annotations": {"a.b/c": "d"}, "name": "p"},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}, {"type": "Other", "status": null}, {"type": "None"}],
            },
        });
        for (query, expected) in [
            (".", Some(json!([pod]))),
            (".metadata.name", Some(json!(["p"]))),
            (".metadata.annotations[\"a.b/c\"]", Some(json!(["d"]))),
            (".metadata.annotations.\"a.b/c\"", Some(json!(["d"]))),
            (".metadata[\"name\"] | .", Some(json!(["p"]))),
            (".status.conditions.[].type", Some(json!(["Ready", "Other", "None"]))),
            (".status.conditions[].status", Some(json!(["True"]))),
            (".status.conditions[-1].type", Some(json!(["None"]))),
            (".status.conditions[9].type", Some(json!([]))),
            (".status.conditions.[] | select( .type == \"Ready\" ) | .status", Some(json!(["True"]))),
            (".status.conditions.[] | select(.type != \"Ready\") | .type", Some(json!(["Other", "None"]))),
            (".status.conditions.[] | select(.status) | .type", Some(json!(["Ready"]))),
            (".status.none.of.these", Some(json!([]))),
            (".status.none.[].a", None),
            (".metadata.name.a", None),
            (".status.conditions.a", None),
        ] {
            let answers = Query::parse(query).unwrap().ask(&pod);
            assert_eq!(answers.map(Value::from), expected, "{query}");
        }
    }

    #[test]
    fn what_is_not_supported_is_named() {
        for (query, expected) in [
            ("", "a query is not complete"),
            (".a.", "a query is not complete"),
            ("a", "\"a\" is not supported in a query"),
            (".a?", "\"?\" is not supported in the query \".a?\""),
            (".a | length", "\"length\" is not supported in a query"),
            (".a // 1", "\"// 1\" is not supported in the query \".a // 1\""),
            (".a[1:2]", "\":2]\" is not supported in a query"),
            ("select(.a and .b)", "\"and .b)\" is not supported in a query"),
        ] {
            assert_eq!(Query::parse(query).unwrap_err(), expected, "{query}");
        }
    }
}
