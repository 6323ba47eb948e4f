//! Label selectors: `app=web,tier in (a,b),!canary`.
//!
//! A port of `labels.Parse` and `Requirement.Matches` of `k8s.io/apimachinery/pkg/labels/selector.go` (v0.37.1):
//! same lexer, same recursive descent, hence the same words for the same mistakes.

use super::requirement::{self, Operator, Requirement};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::object::name;
use std::fmt;
use tree::Value;

/// Requirements that all must hold; without requirements everything is selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector {
    /// The requirements, sorted by key.
    requirements: Vec<Requirement>,
    /// The same in fewer requirements.
    merged: Vec<Requirement>,
    /// The number of keys that an object must have.
    needed: usize,
}

impl LabelSelector {
    /// Parses a selector.
    ///
    /// # Errors
    /// 400, with the position of the error.
    pub fn parse(text: &str) -> ApiResult<Self> {
        // To upstream's lexer a NUL is the end.
        let text = text.split('\0').next().unwrap_or_default();
        Parser::new(text).selector().map_err(ApiError::bad_request).map(LabelSelector::of)
    }

    /// `Selector.Add`.
    pub(super) fn of(mut requirements: Vec<Requirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        let merged = requirement::merged(&requirements);
        let is_needed = |of_key: &&[Requirement]| of_key.iter().any(Requirement::needs_label);
        let needed = merged.chunk_by(|one, next| one.key == next.key).filter(is_needed).count();
        LabelSelector { requirements, merged, needed }
    }

    /// Whether everything is selected.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The requirements that can be written as those of a structured selector, sorted by key: key, operator and values.
    pub fn structured_requirements(&self) -> impl Iterator<Item = (&str, &'static str, &[String])> {
        self.requirements.iter().filter_map(Requirement::structured)
    }

    /// Whether an object is selected that has these labels, each key once. Requirements about other keys are not looked at, as there may be
    /// many more of them.
    pub fn matches<'o>(&self, labels: impl IntoIterator<Item = (&'o str, &'o str)>) -> bool {
        let mut needed = self.needed;
        for (key, value) in labels {
            let first = self.merged.partition_point(|requirement| &*requirement.key < key);
            let of_key = self.merged[first..].iter().take_while(|requirement| requirement.key == key);
            let mut is_needed = false;
            for requirement in of_key {
                if !requirement.matches(Some(value)) {
                    return false;
                }
                is_needed |= requirement.needs_label();
            }
            needed -= usize::from(is_needed);
        }
        needed == 0
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.requirements.iter().map(Requirement::to_string).collect();
        f.write_str(&texts.join(","))
    }
}

/// A token is its text; the empty one is the end.
type Token<'a> = &'a str;

const END: Token<'static> = "";

/// Every text that is not an identifier. `in` and `notin` are identifiers where a value or a key is due.
const SYMBOLS: &[&str] = &["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn is_special(byte: u8) -> bool {
    b"=!(),><".contains(&byte)
}

fn is_identifier(token: Token<'_>) -> bool {
    !token.is_empty() && !SYMBOLS.contains(&token)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            let end = match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => symbol.len(),
                None => rest
                    .bytes()
                    .position(|byte| is_special(byte) || matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
                    .unwrap_or(rest.len()),
            };
            if end == 0 {
                return Parser { tokens, position: 0 };
            }
            let (token, after) = rest.split_at(end);
            tokens.push(token);
            rest = after;
        }
    }

    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.position).copied().unwrap_or(END)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                END => return Ok(requirements),
                token if is_identifier(token) || token == "!" => {}
                token => return Err(format!("found '{token}', expected: !, identifier, or 'end of string'")),
            }
            let requirement = self.requirement().map_err(|error| format!("unable to parse requirement: {error}"))?;
            requirements.push(requirement);
            match self.next() {
                END => return Ok(requirements),
                "," => match self.peek() {
                    token if is_identifier(token) || token == "!" => {}
                    token => return Err(format!("found '{token}', expected: identifier after ','")),
                },
                token => return Err(format!("found '{token}', expected: ',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let absent = self.peek() == "!";
        if absent {
            self.next();
        }
        let key = self.identifier()?;
        let objections = name::label_key(key);
        if !objections.is_empty() {
            // The real server's error has no path.
            return Err(FieldError::invalid("<nil>", &Value::from(key), objections.join("; ")).to_string());
        }
        if absent {
            return Requirement::new(key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek(), END | ",") {
            return Requirement::new(key, Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.value()?],
        };
        Requirement::new(key, operator, values)
    }

    fn identifier(&mut self) -> Result<Token<'a>, String> {
        match self.next() {
            token if is_identifier(token) => Ok(token),
            token => Err(format!("found '{token}', expected: identifier")),
        }
    }

    fn operator(&mut self) -> Result<Operator, String> {
        Ok(match self.next() {
            "in" => Operator::In,
            "notin" => Operator::NotIn,
            "=" => Operator::Equals,
            "==" => Operator::DoubleEquals,
            "!=" => Operator::NotEquals,
            ">" => Operator::GreaterThan,
            "<" => Operator::LessThan,
            token => return Err(format!("found '{token}', expected: in, notin, =, ==, !=, gt, lt")),
        })
    }

    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            END | "," => Ok(String::new()),
            _ => self.identifier().map(String::from),
        }
    }

    /// `(a,b)`; an empty place is the empty value.
    fn values(&mut self) -> Result<Vec<String>, String> {
        match self.next() {
            "(" => {}
            token => return Err(format!("found '{token}' expected: '('")),
        }
        let mut values = Vec::new();
        match self.peek() {
            ")" => values.push(String::new()),
            token if token == "," || is_identifier(token) => self.list_into(&mut values)?,
            token => return Err(format!("found '{token}', expected: ',', ')' or identifier")),
        }
        self.next();
        Ok(values)
    }

    /// Stops before the closing parenthesis.
    fn list_into(&mut self, values: &mut Vec<String>) -> Result<(), String> {
        loop {
            match self.next() {
                "," => {
                    if values.is_empty() || matches!(self.peek(), "," | ")") {
                        values.push(String::new());
                    }
                    if self.peek() == ")" {
                        return Ok(());
                    }
                }
                token if is_identifier(token) => {
                    values.push(token.into());
                    match self.peek() {
                        "," => {}
                        ")" => return Ok(()),
                        token => return Err(format!("found '{token}', expected: ',' or ')'")),
                    }
                }
                token => return Err(format!("found '{token}', expected: ',', or identifier")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::meta;
    use tree::json;

    const KEY: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
        an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
        '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
        and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
        for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    const INTEGER: &str = "for 'Gt', 'Lt' operators, the value must be an integer";

    /// Every text as the real server (v1.37.1) gave it.
    #[test]
    fn mistakes_are_named() {
        let table = [
            ("a,", "found '', expected: identifier after ','".to_string()),
            (",a", "found ',', expected: !, identifier, or 'end of string'".into()),
            ("(a)", "found '(', expected: !, identifier, or 'end of string'".into()),
            ("a=b=c", "found '=', expected: ',' or 'end of string'".into()),
            ("!a=b", "found '=', expected: ',' or 'end of string'".into()),
            ("a=b c", "found 'c', expected: ',' or 'end of string'".into()),
            ("a in (b))", "found ')', expected: ',' or 'end of string'".into()),
            ("a in b", "unable to parse requirement: found 'b' expected: '('".into()),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'".into()),
            ("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'".into()),
            ("a notin (x!y)", "unable to parse requirement: found '!', expected: ',' or ')'".into()),
            ("a in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier".into()),
            ("x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt".into()),
            ("a!b", "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt".into()),
            ("!", "unable to parse requirement: found '', expected: identifier".into()),
            ("!!a", "unable to parse requirement: found '!', expected: identifier".into()),
            ("a=>b", "unable to parse requirement: found '>', expected: identifier".into()),
            ("a===b", "unable to parse requirement: found '=', expected: identifier".into()),
            ("a>x", format!("unable to parse requirement: values[0]: Invalid value: \"x\": {INTEGER}")),
            ("a>", format!("unable to parse requirement: values[0]: Invalid value: \"\": {INTEGER}")),
            (
                "a<-",
                format!(
                    "unable to parse requirement: [values[0]: Invalid value: \"-\": {INTEGER}, \
                     values[0][a]: Invalid value: \"-\": {VALUE}]"
                ),
            ),
            ("-a", format!("unable to parse requirement: <nil>: Invalid value: \"-a\": {KEY}")),
            (
                "a/",
                format!(
                    "unable to parse requirement: <nil>: Invalid value: \"a/\": name part must be non-empty; {KEY}"
                ),
            ),
            ("a=-b", format!("unable to parse requirement: values[0][a]: Invalid value: \"-b\": {VALUE}")),
        ];
        for (text, message) in table {
            let error = LabelSelector::parse(text).unwrap_err();
            assert_eq!((error.code(), error.to_string()), (400, message), "{text}");
        }
    }

    #[test]
    fn requirements_select() {
        let object = json!({"metadata": {"labels": {"app": "web", "tier": "", "size": "10", "in": "x"}}});
        let table = [
            ("", true),
            ("app", true),
            ("!app", false),
            ("app=web,tier=", true),
            ("app == web", true),
            ("app!=web", false),
            ("missing!=web", true),
            ("app in (db, web)", true),
            ("tier in ()", true),
            ("tier in (,a)", true),
            ("app notin (db)", true),
            ("missing notin (db)", true),
            ("missing in (db)", false),
            ("size>9,size<11", true),
            ("size>10", false),
            ("app>1", false),
            ("in in (x)", true),
            ("app,app=web,app!=db,app in (web,db),app notin (a,b)", true),
            ("app in (web,db),app in (db,cache)", false),
            ("app!=db,app!=web", false),
            ("!missing,!app", false),
            ("!missing,missing!=a,missing", false),
        ];
        for (text, selected) in table {
            let selector = LabelSelector::parse(text).unwrap();
            assert_eq!(selector.matches(meta::labels(&object).iter()), selected, "{text}");
        }
    }

    #[test]
    fn selectors_print_sorted_by_key() {
        let selector = LabelSelector::parse("z,b notin (y,x,x), a==1,!c").unwrap();
        assert_eq!(selector.to_string(), "a==1,b notin (x,y),!c,z");
        assert!(LabelSelector::parse("").unwrap().is_empty());
    }
}
