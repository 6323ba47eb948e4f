//! An audit event, and its JSON.
//!
//! Follows `pkg/apis/audit/v1/types.go` of `k8s.io/apiserver` (v0.37.1).

use super::level::{Level, Stage};
use crate::auth::User;
use crate::auth::impersonation::Impersonated;
use crate::clock::format_micros;
use crate::json;
use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// The beginning of an event that stands alone; an item of a list has only the brace.
const HEAD: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","#;

/// An annotation: key and value.
pub(crate) type Annotation = (Cow<'static, str>, String);

/// The facts about a request that are known from its beginning.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) audit_id: String,
    pub(crate) uri: String,
    pub(crate) verb: String,
    /// The user; `None` if authentication has failed.
    pub(crate) user: Option<Arc<User>>,
    pub(crate) source_ips: Vec<IpAddr>,
    pub(crate) user_agent: String,
    pub(crate) received: Timestamp,
}

/// The object that a request is about (`ObjectReference`). Unknown parts are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ObjectRef {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) resource: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) namespace: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) uid: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) api_group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) api_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) resource_version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) subresource: String,
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) code: u16,
    /// The status, message, reason and details of a `Status`: members of an object, each with a comma behind it.
    pub(crate) told: Vec<u8>,
}

/// An event.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) level: Level,
    pub(crate) stage: Stage,
    pub(crate) origin: Arc<Origin>,
    pub(crate) impersonated: Option<Impersonated>,
    pub(crate) object: Option<ObjectRef>,
    pub(crate) outcome: Option<Outcome>,
    /// The object in the request, as JSON that Go's encoder would not change.
    pub(crate) request_object: Option<Bytes>,
    /// That in the response.
    pub(crate) response_object: Option<Bytes>,
    /// The time at which the stage began.
    pub(crate) time: Timestamp,
    /// The annotations. Of several with the same key the first one counts.
    pub(crate) annotations: Vec<Annotation>,
}

/// The fields before those that are JSON already.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Front<'e> {
    level: &'static str,
    #[serde(rename = "auditID")]
    audit_id: &'e str,
    stage: &'static str,
    #[serde(rename = "requestURI")]
    request_uri: &'e str,
    verb: &'e str,
    user: UserInfo<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    impersonated_user: Option<UserInfo<'e>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication_metadata: Option<Metadata>,
    #[serde(rename = "sourceIPs", skip_serializing_if = "<[IpAddr]>::is_empty")]
    source_ips: &'e [IpAddr],
    #[serde(skip_serializing_if = "str::is_empty")]
    user_agent: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_ref: Option<&'e ObjectRef>,
}

/// The fields behind them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Back<'e> {
    request_received_timestamp: String,
    stage_timestamp: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'e str, &'e str>,
}

/// `authentication.k8s.io/v1` `UserInfo`.
#[derive(Default, Serialize)]
struct UserInfo<'e> {
    #[serde(skip_serializing_if = "str::is_empty")]
    username: &'e str,
    #[serde(skip_serializing_if = "str::is_empty")]
    uid: &'e str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    groups: &'e [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'e BTreeMap<String, Vec<String>>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    impersonation_constraint: &'static str,
}

impl Event {
    /// The event as a document, and a line feed.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = HEAD.as_bytes().to_vec();
        self.write_fields(&mut line);
        line.extend_from_slice(b"}\n");
        line
    }

    /// The event as an item of a list.
    pub(crate) fn item(&self) -> Vec<u8> {
        let mut item = b"{".to_vec();
        self.write_fields(&mut item);
        item.push(b'}');
        item
    }

    fn write_fields(&self, text: &mut Vec<u8>) {
        let Event { level, stage, origin, impersonated, object, outcome, .. } = self;
        let constraint = impersonated.as_ref().and_then(|impersonated| impersonated.constraint);
        let front = Front {
            level: level.name(),
            audit_id: &origin.audit_id,
            stage: stage.name(),
            request_uri: &origin.uri,
            verb: &origin.verb,
            user: origin.user.as_deref().map(UserInfo::of).unwrap_or_default(),
            impersonated_user: impersonated.as_ref().map(|impersonated| UserInfo::of(&impersonated.user)),
            authentication_metadata: constraint.map(|impersonation_constraint| Metadata { impersonation_constraint }),
            source_ips: &origin.source_ips,
            user_agent: &origin.user_agent,
            object_ref: object.as_ref(),
        };
        write_members(text, &front);
        if let Some(Outcome { code, told }) = outcome {
            text.extend_from_slice(br#","responseStatus":{"metadata":{},"#);
            text.extend_from_slice(told);
            text.extend_from_slice(format!(r#""code":{code}}}"#).as_bytes());
        }
        for (name, object) in [("requestObject", &self.request_object), ("responseObject", &self.response_object)] {
            if let Some(object) = object {
                text.extend_from_slice(format!(r#","{name}":"#).as_bytes());
                text.extend_from_slice(object);
            }
        }
        text.push(b',');
        let mut annotations = BTreeMap::new();
        for (key, value) in &self.annotations {
            annotations.entry(&**key).or_insert(&**value);
        }
        let back = Back {
            request_received_timestamp: format_micros(origin.received),
            stage_timestamp: format_micros(self.time),
            annotations,
        };
        write_members(text, &back);
    }
}

impl<'e> UserInfo<'e> {
    fn of(user: &'e User) -> Self {
        let User { name, uid, groups, extra } = user;
        UserInfo { username: name, uid, groups, extra: Some(extra).filter(|extra| !extra.is_empty()) }
    }
}

/// Writes the members of a document without the braces around them.
fn write_members(text: &mut Vec<u8>, document: &impl Serialize) {
    let json = json::encode(document);
    text.extend_from_slice(&json[1..json.len() - 1]);
}
