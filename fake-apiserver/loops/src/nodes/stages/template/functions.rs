//! The functions of templates: those of Go, and those of kwok (`pkg/utils/gotpl/funcs.go` and `pkg/kwok/controllers`, v0.8.0).

use super::run::is_true;
use super::{Data, print};
use jiff::Timestamp;
use machinery::yaml;
use std::cmp::Ordering;
use tree::{Map, Value, json};

/// The knowledge of templates beside the object.
pub(in super::super) struct Surroundings<'a> {
    pub(in super::super) now: Timestamp,
    /// When the first stage was played.
    pub(in super::super) started: Timestamp,
    /// The name of the node, and its address.
    pub(in super::super) node: (&'a str, &'a str),
    /// The address of the pod.
    pub(in super::super) pod_ip: &'a str,
}

/// The table of functions: each with its name, and how many arguments it takes at least and at most.
macro_rules! functions {
    ($($variant:ident $name:literal $least:literal $most:literal,)*) => {
        /// A function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Function {
            $($variant,)*
        }

        impl Function {
            /// The function of that name.
            pub(super) fn named(name: &str) -> Option<Function> {
                match name {
                    $($name => Some(Function::$variant),)*
                    _ => None,
                }
            }

            /// Its name.
            pub(super) fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            fn takes(self) -> (usize, usize) {
                match self { $(Function::$variant => ($least, $most),)* }
            }
        }
    };
}

functions! {
    And "and" 1 99,
    Or "or" 1 99,
    Not "not" 1 1,
    Eq "eq" 2 99,
    Ne "ne" 2 2,
    Lt "lt" 2 2,
    Le "le" 2 2,
    Gt "gt" 2 2,
    Ge "ge" 2 2,
    Index "index" 1 99,
    Len "len" 1 1,
    Print "print" 0 99,
    Println "println" 0 99,
    Printf "printf" 1 99,
    Dict "dict" 0 99,
    Default "default" 2 2,
    Quote "Quote" 1 1,
    Now "Now" 0 0,
    StartTime "StartTime" 0 0,
    Yaml "YAML" 1 2,
    Version "Version" 0 0,
    NodeConditions "NodeConditions" 0 0,
    NodeIp "NodeIP" 0 0,
    NodeName "NodeName" 0 0,
    NodePort "NodePort" 0 0,
    PodIp "PodIP" 0 0,
    NodeIpWith "NodeIPWith" 1 1,
    NodeIpsWith "NodeIPsWith" 1 1,
    PodIpWith "PodIPWith" 5 5,
    PodIpsWith "PodIPsWith" 5 5,
}

/// The port that nodes say their kubelet has.
const NODE_PORT: i64 = 10250;
/// The version of kwok whose stages are played.
const KWOK: &str = "v0.8.0";

type Called = Result<Data, String>;

impl Function {
    /// The value that it returns.
    pub(super) fn call(self, arguments: Vec<Data>, around: &Surroundings<'_>) -> Called {
        let (least, most) = self.takes();
        let count = arguments.len();
        if count < least || count > most {
            let wanted = if most == least { least.to_string() } else { format!("at least {least}") };
            return Err(format!("wrong number of args for {}: want {wanted} got {count}", self.name()));
        }
        match self {
            Function::And | Function::Or => Ok(arguments.into_iter().last().unwrap_or(Data::Nothing)),
            Function::Not => Ok(flag(!is_true(&arguments[0]))),
            Function::Eq => equal(&arguments).map(flag),
            Function::Ne => equal(&arguments).map(|equal| flag(!equal)),
            Function::Lt => order(&arguments).map(|order| flag(order.is_lt())),
            Function::Le => order(&arguments).map(|order| flag(order.is_le())),
            Function::Gt => order(&arguments).map(|order| flag(order.is_gt())),
            Function::Ge => order(&arguments).map(|order| flag(order.is_ge())),
            Function::Index => index(arguments),
            Function::Len => length(&arguments[0]),
            Function::Print => Ok(text(print::sprint(&arguments))),
            Function::Println => {
                let words: Vec<String> = arguments.iter().map(print::plain).collect();
                Ok(text(format!("{}\n", words.join(" "))))
            }
            Function::Printf => print::sprintf(text_of(&arguments[0])?, &arguments[1..]).map(text),
            Function::Dict => dict(&arguments),
            // A number of an object is a text, and so is never empty.
            Function::Default => Ok(arguments[usize::from(is_true(&arguments[1]))].clone()),
            Function::Quote => Ok(text(quote(&arguments[0]))),
            Function::Yaml => in_yaml(&arguments),
            _ => around.call(self, &arguments),
        }
    }
}

impl Surroundings<'_> {
    fn call(&self, function: Function, arguments: &[Data]) -> Called {
        let list = |address: &str| Data::Json(if address.is_empty() { json!([]) } else { json!([address]) });
        match function {
            Function::Now => Ok(text(stamp(self.now))),
            Function::StartTime => Ok(text(stamp(self.started))),
            Function::Version => Ok(text(KWOK.to_owned())),
            Function::NodeConditions => Ok(Data::Json(node_conditions())),
            Function::NodeName => Ok(text(self.node.0.to_owned())),
            Function::NodePort => Ok(Data::Int(NODE_PORT)),
            Function::PodIp => Ok(text(self.pod_ip.to_owned())),
            Function::NodeIp => Ok(text(self.node.1.to_owned())),
            Function::NodeIpWith => self.node_of(arguments).map(|address| text(address.to_owned())),
            Function::NodeIpsWith => self.node_of(arguments).map(list),
            _ => {
                let node = self.node_of(arguments)?;
                let Data::Json(Value::Bool(is_of_host)) = arguments[1] else {
                    return Err("wrong type for value; expected bool".to_owned());
                };
                arguments[2..].iter().try_for_each(|argument| text_of(argument).map(drop))?;
                let address = if is_of_host { node } else { self.pod_ip };
                Ok(if function == Function::PodIpsWith { list(address) } else { text(address.to_owned()) })
            }
        }
    }

    /// The address of the node that is named.
    fn node_of(&self, arguments: &[Data]) -> Result<&str, String> {
        Ok(if text_of(&arguments[0])? == self.node.0 { self.node.1 } else { "" })
    }
}

fn text(text: String) -> Data {
    Data::Json(text.into())
}

fn flag(flag: bool) -> Data {
    Data::Json(flag.into())
}

fn text_of(data: &Data) -> Result<&str, String> {
    match data {
        Data::Json(Value::String(text)) => Ok(text),
        Data::Nothing => Err("invalid value; expected string".to_owned()),
        _ => Err("wrong type for value; expected string".to_owned()),
    }
}

/// A time with its fraction of a second (`time.RFC3339Nano`).
fn stamp(time: Timestamp) -> String {
    time.to_string()
}

fn quote(data: &Data) -> String {
    let text = match data {
        Data::Nothing => "null".to_owned(),
        Data::Int(number) => number.to_string(),
        Data::Json(Value::String(text)) => text.to_string(),
        Data::Json(value) => value.to_string(),
    };
    serde_json::json!(text).to_string()
}

fn in_yaml(arguments: &[Data]) -> Called {
    let json = match &arguments[0] {
        Data::Nothing => "null".to_owned(),
        Data::Int(number) => number.to_string(),
        Data::Json(value) => value.to_string(),
    };
    let printed = yaml::print(json.as_bytes())?;
    match arguments.get(1) {
        None => Ok(text(printed)),
        Some(Data::Int(indent)) => match usize::try_from(*indent) {
            Ok(0) | Err(_) => Ok(text(printed)),
            Ok(indent) => {
                Ok(text(format!("\n{printed}").replace('\n', &format!("\n{}", " ".repeat(indent.min(64) * 2)))))
            }
        },
        Some(_) => Err("wrong type for value; expected int".to_owned()),
    }
}

fn dict(arguments: &[Data]) -> Called {
    let mut map = Map::new();
    for pair in arguments.chunks(2) {
        let value = match pair.get(1) {
            None => "".into(),
            Some(Data::Nothing) => Value::Null,
            Some(Data::Int(number)) => (*number).into(),
            Some(Data::Json(value)) => value.clone(),
        };
        map.insert(print::plain(&pair[0]).into(), value);
    }
    Ok(Data::Json(map.into()))
}

fn index(arguments: Vec<Data>) -> Called {
    let mut arguments = arguments.into_iter();
    let mut item = arguments.next().unwrap_or(Data::Nothing);
    for at in arguments {
        item = match (item, at) {
            (Data::Nothing | Data::Json(Value::Null), _) => return Err("index of untyped nil".to_owned()),
            (Data::Json(Value::Array(items)), Data::Int(index)) => {
                let found = usize::try_from(index).ok().and_then(|index| items.get(index));
                Data::Json(found.ok_or("reflect: slice index out of range")?.clone())
            }
            (Data::Json(Value::Object(fields)), Data::Json(Value::String(name))) => {
                fields.get(&name).map_or(Data::Nothing, |value| Data::Json(value.clone()))
            }
            (Data::Json(Value::Array(_)), other) => {
                return Err(format!("cannot index slice/array with {}", print::plain(&other)));
            }
            (Data::Json(Value::Object(_)), other) => {
                return Err(format!("value {} has no type of a key", print::plain(&other)));
            }
            (other, _) => return Err(format!("can't index item {}", print::plain(&other))),
        };
    }
    Ok(item)
}

fn length(data: &Data) -> Called {
    let length = match data {
        Data::Json(Value::String(text)) => text.len(),
        Data::Json(Value::Number(number)) => number.to_string().len(),
        Data::Json(Value::Array(items)) => items.len(),
        Data::Json(Value::Object(fields)) => fields.len(),
        Data::Nothing => return Err("len of nil pointer".to_owned()),
        other => return Err(format!("len of {}", print::plain(other))),
    };
    Ok(Data::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// The refusal to compare values of different kinds.
fn incompatible<T>(one: &Data, other: &Data) -> Result<T, String> {
    let name = |data: &Data| match data {
        Data::Int(_) => "int",
        Data::Json(Value::Number(_)) => "json.Number",
        Data::Json(Value::Bool(_)) => "bool",
        Data::Json(Value::Array(_)) => "[]interface {}",
        Data::Json(Value::Object(_)) => "map[string]interface {}",
        Data::Json(_) => "string",
        Data::Nothing => "nil",
    };
    Err(format!("incompatible types for comparison: {} and {}", name(one), name(other)))
}

/// The kind of a value that can be compared; a number of an object is a text.
fn basic(data: &Data) -> Option<Value> {
    Some(match data {
        Data::Int(number) => (*number).into(),
        Data::Json(Value::Number(number)) => number.to_string().into(),
        Data::Json(value @ (Value::Bool(_) | Value::String(_))) => value.clone(),
        _ => return None,
    })
}

fn is_nothing(data: &Data) -> bool {
    matches!(data, Data::Nothing | Data::Json(Value::Null))
}

/// Whether the first value is one of the others.
fn equal(arguments: &[Data]) -> Result<bool, String> {
    let (first, others) = (&arguments[0], &arguments[1..]);
    for other in others {
        let equal = match (basic(first), basic(other)) {
            (Some(one), Some(two)) if std::mem::discriminant(&one) == std::mem::discriminant(&two) => one == two,
            _ if is_nothing(first) || is_nothing(other) => is_nothing(first) && is_nothing(other),
            (None, None) => return Err("non-comparable types".to_owned()),
            _ => return incompatible(first, other),
        };
        if equal {
            return Ok(true);
        }
    }
    Ok(false)
}

fn order(arguments: &[Data]) -> Result<Ordering, String> {
    match (basic(&arguments[0]), basic(&arguments[1])) {
        (Some(Value::String(one)), Some(Value::String(other))) => Ok(one.cmp(&other)),
        (Some(Value::Number(one)), Some(Value::Number(other))) => Ok(one.as_i64().cmp(&other.as_i64())),
        (Some(_), Some(_)) => incompatible(&arguments[0], &arguments[1]),
        _ => Err("invalid type for comparison".to_owned()),
    }
}

/// The conditions of a node that is well.
fn node_conditions() -> Value {
    let condition = |kind: &str, status: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": message,
            "lastHeartbeatTime": null, "lastTransitionTime": null,
        })
    };
    Value::Array(vec![
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        condition("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
    ])
}
