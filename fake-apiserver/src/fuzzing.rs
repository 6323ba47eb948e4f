//! Entry points for the fuzz targets of `fake-apiserver/fuzz`: the private parsers, as functions from bytes to plain data.

use crate::api::continue_token::ContinueToken as Token;
use crate::api::request::Query;
use crate::api::request::options::{ListOptions, WriteOptions};
use crate::commit::deletion::DeleteOptions;
use crate::custom::rules::{Before, Check, Rules};
use crate::custom::schema::{Compared, Old, Structural};
use crate::http::{Route, route};
use crate::object::{name, patch};
use crate::schema::TypeRef;
use crate::server::RunningReplica;
use std::collections::HashMap;
use tokio::io::{AsyncRead, AsyncWrite};
use tree::Value;

pub use crate::auth::jwt::sign;
pub use crate::auth::keys::SigningKey;
pub use crate::auth::token_file::parse as parse_token_file;
pub use crate::auth::{Authentication, Authenticator, ClientAuthorities, ClientCertificate, Config, Objects, Refusal};
pub use crate::deadline::Deadline;
pub use crate::duration::parse as parse_duration;
pub use crate::error::{ApiError, ApiResult};
pub use crate::object::selector::{FieldSelector, LabelSelector, SelectableField};
pub use crate::schema::canonical_time;

/// The field managers.
pub mod managed {
    pub use crate::managed::{
        Context, Failure, Managers, Set, Trees, Type, Versions, decode, encode, fields_of, validate,
    };
}

/// The elements of a resource's path: group, version, namespace, resource, name, subresource.
#[derive(Debug, PartialEq, Eq)]
pub struct Path {
    /// The elements, decoded; missing ones are empty.
    pub elements: [String; 6],
    /// Whether it has more elements than any resource.
    pub overlong: bool,
    /// Whether it has the prefix `/watch/`.
    pub watch_prefix: bool,
}

/// The elements of a path; `None` if it is not a resource's.
pub fn resource_path(path: &str) -> Option<Path> {
    let Route::Resource(found) = route(path) else { return None };
    Some(Path {
        elements: [
            found.group.into(),
            found.version.into(),
            found.namespace.into(),
            found.resource.into(),
            found.name.into(),
            found.subresource.into(),
        ],
        overlong: found.overlong,
        watch_prefix: found.watch_prefix,
    })
}

/// The options of all verbs in a query, each as its `Debug` output, or the refusal.
pub fn query_options(query: &str) -> [Result<String, ApiError>; 4] {
    let query = Query::parse(query);
    [
        ListOptions::parse(&query, false).map(|options| format!("{options:?} {:?}", options.resource_version())),
        ListOptions::parse(&query, true).map(|options| format!("{options:?} {:?}", options.resource_version())),
        WriteOptions::parse(&query, "PatchOptions").map(|options| format!("{options:?}")),
        DeleteOptions::from_query(&query).map(|options| format!("{options:?}")),
    ]
}

/// A decoded continue token.
pub struct ContinueToken(Token);

impl ContinueToken {
    /// Decodes a token.
    ///
    /// # Errors
    /// 400, if it is not valid.
    pub fn decode(text: &str) -> ApiResult<Self> {
        Token::decode(text).map(ContinueToken)
    }

    /// The text of the token.
    pub fn encode(&self) -> String {
        self.0.encode()
    }

    /// The revision, and the first path of the page.
    pub fn place(&self) -> (i64, &str) {
        (self.0.rv, self.0.start())
    }
}

/// The rules for names and keys, each with its findings about the text.
pub fn name_objections(text: &str) -> HashMap<&'static str, Vec<String>> {
    HashMap::from([
        ("dns_label", name::dns_label(text)),
        ("dns_subdomain", name::dns_subdomain(text)),
        ("dns_subdomain_with_underscores", name::dns_subdomain_with_underscores(text)),
        ("path_segment", name::path_segment(text)),
        ("label_key", name::label_key(text)),
        ("label_value", name::label_value(text)),
        ("data_key", name::data_key(text)),
    ])
}

/// The first document of a body in YAML, as JSON.
///
/// # Errors
/// If it is not YAML, or cannot be JSON.
pub fn yaml_to_json(body: &[u8]) -> Result<Vec<u8>, String> {
    crate::yaml::parse(body, &crate::deadline::Deadline::default()).map(|document| crate::json::encode(&document.value))
}

/// JSON as the server encodes it.
pub fn encode(tree: &Value) -> Vec<u8> {
    crate::json::encode(tree)
}

/// JSON printed in YAML.
///
/// # Errors
/// If it cannot be represented in YAML.
pub fn json_to_yaml(json: &[u8]) -> Result<String, String> {
    crate::yaml::print(json)
}

/// Parses a patch of either kind.
///
/// # Errors
/// 400, if it is not JSON.
pub fn parse_patch(body: &[u8]) -> ApiResult<Value> {
    Ok(patch::parse(body)?.0)
}

/// Applies a JSON patch.
///
/// # Errors
/// If it is malformed, or does not apply.
pub fn json_patch(document: Value, patch: &Value, checked: bool) -> ApiResult<Value> {
    patch::json::apply(document, patch, checked, &Deadline::default())
}

/// Applies a merge patch.
///
/// # Errors
/// If it is malformed.
pub fn merge_patch(document: Value, patch: Value, checked: bool) -> ApiResult<Value> {
    patch::merge::apply(document, patch, checked)
}

/// Applies a strategic merge patch to a document of that type.
///
/// # Errors
/// If it is malformed, contradicts itself or the type.
pub fn strategic_patch(document: Value, mut patch: Value, ty: TypeRef<'_>) -> ApiResult<Value> {
    Ok(patch::strategic::apply(document, &mut patch, ty)?)
}

/// Serves a connection as if the replica had accepted it on its plain HTTP port.
pub async fn serve_connection(replica: &RunningReplica, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
    replica.serve_connection(stream).await;
}

/// The rules of a schema that a value breaks.
#[derive(Debug, PartialEq, Eq)]
pub struct BrokenRules {
    /// The errors, in order.
    pub errors: Vec<String>,
    /// Errors that are tolerated because the value has not changed.
    pub warnings: Vec<String>,
}

/// Evaluates the rules of a schema of custom resources about a value, which may replace another. `None` if the schema is not
/// structural or has no rules.
pub fn broken_rules(schema: &Value, value: &Value, old: Option<&Value>) -> Option<BrokenRules> {
    let structural = Structural::new(schema).ok()?;
    let rules = Rules::new(schema, true)?;
    let (deadline, compared, node) = (Deadline::default(), Compared::default(), structural.root());
    let before = old.map_or(Before::NOTHING, |old| Before::forgiving(Old::new(old, &compared), node, value));
    let mut check = Check::new(&deadline);
    rules.check(node, crate::error::Path::ROOT, value, before, &mut check);
    Some(BrokenRules { errors: check.errors.iter().map(ToString::to_string).collect(), warnings: check.warnings })
}
