//! `/flagz` and `/statusz`: pages about the process, as text for people, and as objects of `config.k8s.io` for programs that ask for them.
//!
//! ```text
//!   Accept ─▶ negotiate/pages.rs ─┬─▶ text
//!                                 ├─▶ Flagz or Statusz, v1beta1 or v1alpha1, as JSON or YAML
//!                                 └─▶ 406
//! ```
//! Follows `flagz.go` and `statusz.go` of `k8s.io/apiserver/pkg/server/flagz` and `statusz` (v0.37.1). Each is behind a feature gate.

mod flagz;
mod page;
mod statusz;

use super::negotiate::{Encoding, PAGE_GROUP, PageForm, Preferences};
use super::pages::{FLAGZ, Pages};
use super::replica::Replica;
use super::respond::{content, content_type};
use crate::error::{ApiError, ApiResult};
use crate::json::encode;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, WARNING};
use http::{Response, StatusCode};
use jiff::Timestamp;
use page::Page;

/// The version of the objects that is deprecated.
const DEPRECATED: &str = "v1alpha1";
/// The type of the text.
const TEXT: &str = "text/plain; charset=utf-8";

/// A page that a request asks for, and its negotiated form.
pub(super) struct Asked {
    page: Page,
    form: Result<PageForm, (ApiError, Encoding)>,
}

/// The page at a path, if the server has it, in the form that the client prefers.
pub(super) fn asked(pages: &Pages, path: &str, preferences: &Preferences<'_>) -> Option<Asked> {
    let path = pages.paths().find(|known| *known == path)?;
    let page = if path == FLAGZ { Page::Flagz } else { Page::Statusz };
    Some(Asked { page, form: preferences.page(page.kind()) })
}

impl Asked {
    /// The values of the labels `group`, `version` and `resource` in the metrics.
    pub(super) fn labels(&self) -> [&'static str; 3] {
        match self.form {
            Ok(PageForm::Object(version, _)) => [PAGE_GROUP, version, self.page.name()],
            _ => ["", "", self.page.name()],
        }
    }

    /// Whether the object is of a deprecated version.
    pub(super) fn is_deprecated(&self) -> bool {
        matches!(self.form, Ok(PageForm::Object(DEPRECATED, _)))
    }

    /// The response, which is a refusal if no form is acceptable.
    ///
    /// # Errors
    /// 500, if a flag cannot be written in YAML.
    pub(super) fn answer(self, replica: &Replica, now: Timestamp) -> ApiResult<Response<Bytes>> {
        let (version, encoding) = match self.form {
            Ok(PageForm::Text) => return Ok(text(text_of(self.page, replica, now))),
            Ok(PageForm::Object(version, encoding)) => (version, encoding),
            Err((refusal, encoding)) => return refused(&refusal, encoding),
        };
        let body = content(object_of(self.page, version, replica, now), encoding)?;
        let mut response = Response::new(body);
        let plain = content_type(encoding);
        let kind = self.page.kind();
        let typed = format!("{};g={PAGE_GROUP};v={version};as={kind}", plain.to_str().unwrap_or_default());
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::try_from(typed).map_err(ApiError::internal)?);
        if version == DEPRECATED {
            let name = self.page.name();
            let warning =
                format!("299 - \"This version of the {name} endpoint is deprecated. Please use a newer version.\"");
            response.headers_mut().insert(WARNING, HeaderValue::try_from(warning).map_err(ApiError::internal)?);
        }
        Ok(response)
    }
}

fn text_of(page: Page, replica: &Replica, now: Timestamp) -> String {
    match page {
        Page::Flagz => flagz::text(replica),
        Page::Statusz => statusz::text(replica, now),
    }
}

/// The object of a page as JSON and a line feed.
fn object_of(page: Page, version: &str, replica: &Replica, now: Timestamp) -> Bytes {
    let mut json = match page {
        Page::Flagz => encode(&flagz::object(version, replica)),
        Page::Statusz => encode(&statusz::object(version, replica, now)),
    };
    json.push(b'\n');
    json.into()
}

fn text(text: String) -> Response<Bytes> {
    let mut response = Response::new(text.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    response
}

/// The refusal, in a form of the page.
fn refused(error: &ApiError, encoding: Encoding) -> ApiResult<Response<Bytes>> {
    let mut line = encode(error.status());
    line.push(b'\n');
    let mut response = Response::new(content(line.into(), encoding)?);
    *response.status_mut() = StatusCode::NOT_ACCEPTABLE;
    response.headers_mut().insert(CONTENT_TYPE, content_type(encoding));
    Ok(response)
}
