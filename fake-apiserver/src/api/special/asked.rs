//! Questions to the kubelets in this process, which run pods by rule.

use crate::api::Request;
use crate::error::ApiError;
use loops::{About, Answer, Key, Question};

/// The answer about a container of the request's pod; `None` if no kubelet in this process runs it.
pub(super) async fn ask(request: &Request<'_>, container: &str, about: About) -> Option<Answer> {
    let pod = Key { namespace: request.target.namespace.to_owned(), name: request.target.name.to_owned() };
    let question = Question { pod, container: container.to_owned(), about };
    request.server.cluster.kubelets.ask(question).await
}

/// The error for an answer that is none.
pub(super) fn refusal(answer: Answer) -> ApiError {
    match answer {
        Answer::Refused(400, why) => ApiError::bad_request(why),
        Answer::Refused(_, why) => ApiError::untyped(why),
        Answer::Log(_) | Answer::Output { .. } | Answer::Ports(_) => {
            ApiError::internal("another question was answered")
        }
    }
}
