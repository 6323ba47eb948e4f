//! Negotiation of pages that are text for people and objects of `config.k8s.io` for programs.
//!
//! Follows `negotiate/negotiation.go` of `k8s.io/apiserver/pkg/server/flagz` and `statusz` (v0.37.1), whose object has to be asked for by its
//! group, version and kind, and `ErrorNegotiated` of `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters` for the refusal.

use super::{Clause, Encoding, JSON, Preferences, YAML, accepted};
use crate::error::ApiError;

/// The group of the objects.
pub(in crate::http) const PAGE_GROUP: &str = "config.k8s.io";
/// The versions of the objects.
const VERSIONS: [&str; 2] = ["v1alpha1", "v1beta1"];
const TEXT: &str = "text/plain";

/// The form of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum PageForm {
    /// Text.
    Text,
    /// An object of that version.
    Object(&'static str, Encoding),
}

impl Preferences<'_> {
    /// The form of a page whose objects are of that kind.
    ///
    /// # Errors
    /// 406, and its encoding, if no form is acceptable for the client.
    pub(in crate::http) fn page(&self, kind: &str) -> Result<PageForm, (ApiError, Encoding)> {
        if self.accept.trim().is_empty() {
            return Ok(PageForm::Text);
        }
        let clauses = self.clauses();
        let form = clauses.iter().find_map(|clause| {
            let is_plain = ["sv", "stream"].iter().all(|name| clause.parameter(name).is_none_or(str::is_empty));
            if is_plain { clause.page(kind, self.is_pretty()) } else { None }
        });
        form.ok_or_else(|| {
            let encoding = clauses.iter().find_map(|clause| clause.encoding_of_refusal(self.is_pretty()));
            let refusal = accepted(&[JSON, YAML, TEXT]);
            (refusal, encoding.unwrap_or(Encoding::Json { pretty: true }))
        })
    }
}

impl Clause<'_> {
    fn names(&self, main: &str, sub: &str) -> bool {
        (self.main, self.sub) == (main, sub) || (self.main == main && self.sub == "*") || self.is_wildcard()
    }

    fn is_wildcard(&self) -> bool {
        (self.main, self.sub) == ("*", "*")
    }

    /// The form that it asks for; a wildcard takes JSON before YAML before text.
    fn page(&self, kind: &str, pretty: bool) -> Option<PageForm> {
        match self.conversion() {
            None => self.names("text", "plain").then_some(PageForm::Text),
            Some(asked) => {
                let version = VERSIONS.into_iter().find(|version| *version == asked.version);
                let version = version.filter(|_| asked.group == PAGE_GROUP && asked.kind == kind)?;
                Some(PageForm::Object(version, self.json_or_yaml(pretty)?))
            }
        }
    }

    fn json_or_yaml(&self, pretty: bool) -> Option<Encoding> {
        match () {
            () if self.names("application", "json") => {
                Some(Encoding::Json { pretty: pretty || self.parameter("pretty") == Some("1") })
            }
            () if self.names("application", "yaml") => Some(Encoding::Yaml),
            () => None,
        }
    }

    /// The encoding of a refusal that it takes. Text is none of them: who takes that is not refused.
    fn encoding_of_refusal(&self, pretty: bool) -> Option<Encoding> {
        let encoding = self.json_or_yaml(pretty).filter(|encoding| self.is_available(*encoding))?;
        self.conversion().is_none().then_some(encoding)
    }
}
