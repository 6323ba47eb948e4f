//! Objects in the versions of other managers, where a webhook converts. Ownership of fields is computed by pure functions, which cannot
//! wait: an attempt that lacks a conversion ends, the webhook is called, and the next attempt starts with all conversions made so far.

use super::Act;
use crate::managed::{self, Set, Type, Versions};
use crate::registry::managers::Endpoint;
use std::cell::{Cell, RefCell};
use tree::Value;

/// A requested conversion: the object, and the version to convert it to.
type Question = (Value, String);

/// The webhook's answers so far, and the conversion that the last attempt lacked.
#[derive(Default)]
pub(super) struct Answers {
    known: RefCell<Vec<(Question, Result<Value, String>)>>,
    open: Cell<Option<Question>>,
}

impl Answers {
    fn of(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        let known = self.known.borrow();
        let same = |(question, _): &&(Question, _)| question.1 == api_version && question.0 == *object;
        match known.iter().find(same) {
            Some((_, answer)) => answer.clone(),
            None => {
                self.open.set(Some((object.clone(), api_version.to_owned())));
                Err("the webhook has not been asked yet".to_owned())
            }
        }
    }

    /// Requests the missing conversion from the webhook; true if one was missing.
    pub(super) async fn ask(&mut self, act: &Act<'_>) -> bool {
        let Some(question) = self.open.take() else { return false };
        let version = act.target.resource.versions.iter().find(|version| *version.api_version == *question.1);
        let answer = match version {
            Some(version) => version.by_webhook(vec![question.0.clone()]).await.map(|mut answer| answer.swap_remove(0)),
            None => Err(format!("there is no version {}", question.1)),
        };
        self.known.get_mut().push((question, answer));
        true
    }
}

/// The versions of a resource whose objects a webhook may convert.
pub(super) struct Asking<'a> {
    pub(super) endpoint: &'a Endpoint<'a>,
    pub(super) answers: &'a Answers,
}

impl Versions for Asking<'_> {
    fn ty(&self, api_version: &str) -> Option<Type<'_>> {
        self.endpoint.ty(api_version)
    }

    /// Upstream converts by way of the version of the request.
    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        let version = self.endpoint.version;
        if !version.asks_webhook() {
            return self.endpoint.convert(object, api_version);
        }
        let hub = &*version.api_version;
        let converted = match object["apiVersion"] == *hub || api_version == hub {
            true => self.answers.of(object, api_version)?,
            false => self.answers.of(&self.answers.of(object, hub)?, api_version)?,
        };
        let Some(ty) = self.ty(api_version) else { return Ok(converted) };
        managed::validate(ty, &converted, false).map(|()| converted)
    }

    fn pass_over(&self, api_version: &str) -> Result<(), String> {
        self.endpoint.pass_over(api_version)
    }

    fn reset(&self, api_version: &str) -> Option<&Set> {
        self.endpoint.reset(api_version)
    }
}
