//! The requests that are kept in memory: the newest ones, as many as fit into a number of bytes, and at least one.

use super::record::RequestRecord;
use crate::auth::User;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// The size of a node of an object of `serde_json`, in bytes, which even one of one field has.
const NODE: usize = 640;
/// The fields that a node has at least, but for the first.
const NODE_MEMBERS: usize = 5;

pub(super) struct Kept {
    /// The records, oldest first, each with its size in bytes.
    records: VecDeque<(usize, Arc<RequestRecord>)>,
    bytes: usize,
    max_bytes: usize,
    /// The number of requests so far, dropped ones included.
    count: usize,
}

impl Kept {
    pub(super) fn new(max_bytes: usize) -> Self {
        Kept { records: VecDeque::new(), bytes: 0, max_bytes, count: 0 }
    }

    /// Keeps a request. Returns the number of requests so far, and the bytes that it takes.
    pub(super) fn push(&mut self, record: Arc<RequestRecord>) -> (usize, usize) {
        let bytes = bytes(&record);
        self.records.push_back((bytes, record));
        self.bytes += bytes;
        self.count += 1;
        while self.bytes > self.max_bytes && self.records.len() > 1 {
            if self.records.len() == self.count {
                tracing::warn!("the oldest requests are forgotten: more than {} bytes were recorded", self.max_bytes);
            }
            self.bytes -= self.records.pop_front().map_or(0, |(bytes, _)| bytes);
        }
        (self.count, bytes)
    }

    /// The number of requests so far, and the records behind that number of them, oldest first, each with its own number.
    pub(super) fn since(&self, cursor: usize) -> (usize, Vec<(usize, Arc<RequestRecord>)>) {
        let forgotten = self.count - self.records.len();
        let kept = self.records.iter().enumerate().skip(cursor.saturating_sub(forgotten));
        let numbered = kept.map(|(index, (_, record))| (forgotten + index + 1, record.clone())).collect();
        (self.count, numbered)
    }

    /// The records, oldest first.
    pub(super) fn all(&self) -> Vec<Arc<RequestRecord>> {
        self.records.iter().map(|(_, record)| record.clone()).collect()
    }
}

/// The approximate size of a record, in bytes: all parts whose length clients decide.
fn bytes(record: &RequestRecord) -> usize {
    let RequestRecord { user_agent, method, uri, body, annotations, user, impersonated, .. } = record;
    let users = user.iter().chain(impersonated.iter().map(|impersonated| &impersonated.user));
    let annotations = annotations.iter().map(|(_, value)| value.len());
    let lengths = [user_agent.len(), method.len(), 2 * uri.len(), body.as_ref().map_or(0, tree_bytes)];
    size_of::<RequestRecord>()
        + lengths.into_iter().chain(annotations).chain(users.map(|user| user_bytes(user))).sum::<usize>()
}

fn user_bytes(user: &User) -> usize {
    let values = user.groups.iter().chain(user.extra.values().flatten());
    let texts = [&user.name, &user.uid].into_iter().chain(values).chain(user.extra.keys());
    texts.map(|text| size_of::<String>() + text.len()).sum()
}

fn tree_bytes(tree: &Value) -> usize {
    let content = match tree {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(tree_bytes).sum(),
        Value::Object(members) => {
            let nodes = members.len().div_ceil(NODE_MEMBERS) * NODE;
            nodes + members.iter().map(|(name, value)| name.len() + tree_bytes(value)).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + content
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use serde_json::json;

    fn record(uri: &str, body: Value) -> RequestRecord {
        RequestRecord {
            replica: 0,
            audit_id: String::new(),
            received: Timestamp::UNIX_EPOCH,
            took: std::time::Duration::ZERO,
            user: None,
            impersonated: None,
            user_agent: String::new(),
            method: "PUT".into(),
            uri: uri.into(),
            verb: "update".into(),
            group: String::new(),
            version: String::new(),
            resource: String::new(),
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            patch_type: None,
            body: Some(body),
            code: 200,
            error: None,
            items: None,
            revision: None,
            fault: None,
            authentication_error: None,
            annotations: Vec::new(),
        }
    }

    #[test]
    fn the_newest_requests_are_kept_and_all_are_counted() {
        let mut kept = Kept::new(1_000_000);
        let bodies = [json!({"k": "v".repeat(100_000)}), json!({"v".repeat(100_000): [{}]}), json!(vec![0; 3125])];
        for number in 0..300 {
            let body = bodies[number % bodies.len()].clone();
            assert_eq!(kept.push(record(&number.to_string(), body).into()).0, number + 1);
        }
        let uris: Vec<_> = kept.all().iter().map(|record| record.uri.parse::<usize>().expect("a number")).collect();
        assert_eq!(uris, (291..300).collect::<Vec<_>>());
        let numbers =
            |(count, records): (usize, Vec<(usize, _)>)| (count, records.iter().map(|(number, _)| *number).collect());
        assert_eq!(numbers(kept.since(298)), (300, vec![299, 300]));
        assert_eq!(numbers(kept.since(0)), (300, (292..301).collect()));
        assert_eq!(numbers(kept.since(900)), (300, Vec::new()));
        kept.push(record("large", json!("v".repeat(2_000_000))).into());
        assert_eq!(kept.all().len(), 1);
    }
}
