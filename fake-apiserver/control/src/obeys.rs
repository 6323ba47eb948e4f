//! Those who take orders and answer questions.

use crate::answer::Answer;
use crate::order::Order;
use crate::question::Question;
use crate::refusal::Refusal;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;

/// An order that is being obeyed.
pub type Obeying<'a> = Pin<Box<dyn Future<Output = Result<Answer, Refusal>> + Send + 'a>>;
/// A question that is being answered.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Value, Refusal>> + Send + 'a>>;

/// Someone who takes orders and answers questions.
pub trait Obeys: Send + Sync {
    /// Obeys an order. A refused one changes nothing.
    fn obey(&self, order: Order) -> Obeying<'_>;

    /// The cluster of that name beside this one.
    fn cluster(&self, name: &str) -> Result<Arc<dyn Obeys>, Refusal> {
        Err(Refusal::not_found("clusters", name, ""))
    }

    /// Answers a question.
    fn ask(&self, question: Question) -> Asking<'_>;
}
