//! The kubelets in this process, if there are any: who answers when a client asks about a container.

use futures::future::BoxFuture;
use loops::{Answer, Question};
use std::sync::{Arc, OnceLock};

/// Who answers for pods.
pub(crate) trait Kubelets: Send + Sync {
    /// The answer to a question; `None` if it is about no pod of theirs.
    fn ask(&self, question: Question) -> BoxFuture<'static, Option<Answer>>;
}

/// The place of those who answer, which may be empty.
#[derive(Clone, Default)]
pub(crate) struct KubeletsPlace(Arc<OnceLock<Arc<dyn Kubelets>>>);

impl KubeletsPlace {
    /// Puts somebody there, once.
    pub(crate) fn fill(&self, kubelets: Arc<dyn Kubelets>) {
        self.0.set(kubelets).unwrap_or_default();
    }

    /// The answer to a question; `None` if nobody is there, or it is about no pod of theirs.
    pub(crate) async fn ask(&self, question: Question) -> Option<Answer> {
        self.0.get()?.ask(question).await
    }
}
