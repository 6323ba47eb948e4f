//! Classification of the API server's errors.
//!
//! Follows apimachinery v0.37.1 `pkg/api/errors/errors.go`: the reason decides, the status code only where the reason is
//! unknown. So an AlreadyExists, which is a 409 too, is not a Conflict. (kube's `Status::is_conflict` and its likes ignore
//! the code.)

use kube::Error;
use kube::core::Status;
use kube::core::response::reason;

/// The `StatusCause` of a create in a namespace that is being deleted (`NamespaceTerminatingCause`).
pub const NAMESPACE_TERMINATING_CAUSE: &str = "NamespaceTerminating";

/// Whether the object does not exist.
pub fn is_not_found(error: &Error) -> bool {
    has_reason_or_code(error, reason::NOT_FOUND, 404)
}

/// Whether the object has another state than the request was made for.
pub fn is_conflict(error: &Error) -> bool {
    has_reason_or_code(error, reason::CONFLICT, 409)
}

/// Whether an object of that name exists already. The code does not suffice: 409 may be a conflict.
pub fn is_already_exists(error: &Error) -> bool {
    status(error).is_some_and(|status| status.reason == reason::ALREADY_EXISTS)
}

/// Whether the requested revision is no longer available.
pub fn is_expired(error: &Error) -> bool {
    status(error).is_some_and(|status| status.reason == reason::EXPIRED) || has_reason_or_code(error, reason::GONE, 410)
}

/// Whether the server is overloaded. Here the code counts, whatever the reason.
pub fn is_too_many_requests(error: &Error) -> bool {
    status(error).is_some_and(|status| status.reason == reason::TOO_MANY_REQUESTS || status.code == 429)
}

/// Whether the status lists `cause` as a cause.
pub fn has_status_cause(error: &Error, cause: &str) -> bool {
    let causes = status(error).and_then(|status| status.details.as_ref()).map(|details| &details.causes);
    causes.is_some_and(|causes| causes.iter().any(|listed| listed.reason == cause))
}

fn has_reason_or_code(error: &Error, expected: &str, code: u16) -> bool {
    status(error)
        .is_some_and(|status| status.reason == expected || !reason::is_known(&status.reason) && status.code == code)
}

fn status(error: &Error) -> Option<&Status> {
    match error {
        Error::Api(status) => Some(status),
        _ => None,
    }
}

/// The message of several errors, without repetitions (`utilerrors.NewAggregate`).
pub fn aggregate(messages: &[String]) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for message in messages {
        if !seen.contains(&message.as_str()) {
            seen.push(message);
        }
    }
    match seen[..] {
        [only] => only.to_owned(),
        _ => format!("[{}]", seen.join(", ")),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use kube::core::response::{StatusCause, StatusDetails};

    pub(crate) const CONFLICT: (u16, &str) = (409, "Conflict");
    pub(crate) const FORBIDDEN: (u16, &str) = (403, "Forbidden");

    pub(crate) fn api_error((code, reason): (u16, &str)) -> Error {
        Error::Api(Status::failure("", reason).with_code(code).boxed())
    }

    #[test]
    fn the_reason_decides_and_the_code_only_without_one() {
        for (answer, not_found, conflict) in [
            ((404, "NotFound"), true, false),
            ((404, ""), true, false),
            ((404, "SomethingNew"), true, false),
            (CONFLICT, false, true),
            ((409, ""), false, true),
            ((409, "AlreadyExists"), false, false),
            (FORBIDDEN, false, false),
        ] {
            let error = api_error(answer);
            assert_eq!(is_already_exists(&error), answer.1 == "AlreadyExists", "{answer:?}");
            assert_eq!((is_not_found(&error), is_conflict(&error)), (not_found, conflict), "{answer:?}");
        }
        assert!(!is_not_found(&Error::LinesCodecMaxLineLengthExceeded), "not an answer at all");
    }

    #[test]
    fn what_a_watch_may_be_told() {
        for (answer, expired, too_many) in [
            ((410, "Expired"), true, false),
            ((410, "Gone"), true, false),
            ((410, ""), true, false),
            ((410, "NotFound"), false, false),
            ((429, "TooManyRequests"), false, true),
            ((429, "Forbidden"), false, true),
            ((500, "InternalError"), false, false),
        ] {
            let error = api_error(answer);
            assert_eq!((is_expired(&error), is_too_many_requests(&error)), (expired, too_many), "{answer:?}");
        }
    }

    #[test]
    fn a_cause_is_found_among_others() {
        let cause = |reason: &str| StatusCause { reason: reason.into(), message: String::new(), field: String::new() };
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: String::new(),
            uid: String::new(),
            causes: vec![cause("Other"), cause(NAMESPACE_TERMINATING_CAUSE)],
            retry_after_seconds: 0,
        };
        let error = Error::Api(Status::failure("", "Forbidden").with_code(403).with_details(details).boxed());
        assert!(has_status_cause(&error, NAMESPACE_TERMINATING_CAUSE));
        assert!(!has_status_cause(&api_error(FORBIDDEN), NAMESPACE_TERMINATING_CAUSE));
    }

    #[test]
    fn errors_are_gathered_without_repetitions() {
        let messages = |all: &[&str]| aggregate(&all.iter().map(|text| text.to_string()).collect::<Vec<_>>());
        assert_eq!(messages(&["one"]), "one");
        assert_eq!(messages(&["one", "two", "one"]), "[one, two]");
    }
}
