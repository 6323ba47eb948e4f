//! Recorded requests as the calls of a user.

use conformance_judge::history::Call;
use control::Request;

/// The calls that `user` made in a namespace, without lists and watches.
pub(super) fn of(requests: impl IntoIterator<Item = Request>, user: &str, namespace: &str) -> Vec<Call> {
    let requests = requests.into_iter().filter(|request| {
        let is_here = request.user == user && request.namespace == namespace && !request.resource.is_empty();
        is_here && !["list", "watch"].contains(&request.verb.as_str())
    });
    let call = |request: Request| Call {
        user: user.to_owned(),
        target: Call::target(&request.verb, &request.resource, &request.name, &request.subresource),
        method: request.method,
        status: request.code,
        body: request.body.unwrap_or_default(),
    };
    requests.map(call).collect()
}
