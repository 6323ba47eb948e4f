//! `GET pods/{name}/log`: the log of a container, which is empty before the pod is on a node.
//!
//! Follows `pkg/registry/core/pod/rest/log.go`, `LogLocation` of `pkg/registry/core/pod/strategy.go` and `ValidatePodLogOptions` of
//! `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::asked::{ask, refusal};
use super::locations::{container, kubelet, object};
use crate::api::request::options::integer;
use crate::api::{Reply, Request};
use crate::error::{ApiError, ApiResult, Errors, Path, Qualified};
use crate::registry::{Located, ids, text};
use crate::schema;
use jiff::{SignedDuration, Timestamp};
use loops::{About, Answer};

const OPTIONS: Qualified<'static> = Qualified { group: "", resource: "PodLogOptions" };

/// The numbers and the time among the options.
struct Options {
    since_seconds: Option<i64>,
    /// In UTC; the zero time is "".
    since_time: Option<String>,
    tail_lines: Option<i64>,
    limit_bytes: Option<i64>,
}

pub(crate) async fn get(request: &Request<'_>) -> ApiResult<Reply> {
    let Located { namespace, name, .. } = request.target;
    let options = Options::parse(request)?;
    let errors = Errors::of(|errors| options.validate(request, errors));
    if !errors.is_empty() {
        return Err(ApiError::invalid(OPTIONS, name, &errors));
    }
    let pod = object(request, ids::PODS, namespace, name)?;
    let container = container(&pod, name, request.query.get("container"))?;
    let node = text(&pod, "/spec/nodeName");
    if node.is_empty() {
        return Ok(Reply::Empty);
    }
    let about = About::Log { previous: request.query.flag("previous") == Some(true) };
    if let Some(answer) = ask(request, &container, about).await {
        return match answer {
            Answer::Log(lines) => Ok(Reply::Text(options.text(request, &lines).into())),
            other => Err(refusal(other)),
        };
    }
    let host = kubelet(request, node)?;
    let query = options.query(request);
    let mark = if query.is_empty() { "" } else { "?" };
    let url = format!("https://{host}/containerLogs/{namespace}/{name}/{container}{mark}{query}");
    Err(ApiError::untyped(format!("Get {url:?}: {}", host.refusal())))
}

impl Options {
    fn parse(request: &Request<'_>) -> ApiResult<Options> {
        let query = request.query;
        let since_seconds = integer(query, "sinceSeconds")?;
        let since_time = match query.all("sinceTime").next() {
            None => None,
            Some("" | "null") => Some(String::new()),
            Some(text) => Some(schema::canonical_time(text, false).map_err(ApiError::bad_request)?.unwrap_or_default()),
        };
        let [tail_lines, limit_bytes] = [integer(query, "tailLines")?, integer(query, "limitBytes")?];
        Ok(Options { since_seconds, since_time, tail_lines, limit_bytes })
    }

    fn validate(&self, request: &Request<'_>, errors: &mut Errors) {
        errors.not_negative(Path::new("tailLines"), self.tail_lines);
        if let Some(limit) = self.limit_bytes.filter(|limit| *limit < 1) {
            errors.invalid(Path::new("limitBytes"), limit, "must be greater than 0");
        }
        match self.since_seconds {
            Some(_) if self.since_time.is_some() => {
                errors.forbidden(Path::new("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified");
            }
            Some(seconds) if seconds < 1 => {
                errors.invalid(Path::new("sinceSeconds"), seconds, "must be greater than 0");
            }
            _ => {}
        }
        if request.query.has("stream") {
            errors.forbidden(Path::new("stream"), "may not be specified");
        }
    }

    /// The lines of a log that are asked for, as a kubelet prints them. A log that is followed ends with what there is.
    fn text(&self, request: &Request<'_>, lines: &[(Timestamp, String)]) -> String {
        let since = match (&self.since_time, self.since_seconds) {
            (Some(time), _) => time.parse().ok(),
            (None, Some(seconds)) => request.now.checked_sub(SignedDuration::from_secs(seconds)).ok(),
            (None, None) => None,
        };
        let recent = lines.iter().filter(|(at, _)| since.is_none_or(|since| *at >= since));
        let recent: Vec<&(Timestamp, String)> = recent.collect();
        let most = self.tail_lines.map_or(usize::MAX, |lines| usize::try_from(lines).unwrap_or_default());
        let timed = request.query.flag("timestamps") == Some(true);
        let mut text = String::new();
        for (at, line) in &recent[recent.len().saturating_sub(most)..] {
            if timed {
                text.push_str(&at.strftime("%Y-%m-%dT%H:%M:%S.%9fZ ").to_string());
            }
            text.push_str(line);
            text.push('\n');
        }
        let limit = self.limit_bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or_default());
        text.truncate(machinery::text::beginning(&text, limit).len());
        text
    }

    /// The query of the request to the kubelet, sorted by name.
    fn query(&self, request: &Request<'_>) -> String {
        let flag = |name: &str| request.query.flag(name).filter(|is_set| *is_set).map(|_| "true".to_owned());
        let number = |number: Option<i64>| number.map(|number| number.to_string());
        let zero = |time: &String| if time.is_empty() { "0001-01-01T00:00:00Z".into() } else { time.clone() };
        let parameters = [
            ("follow", flag("follow")),
            ("limitBytes", number(self.limit_bytes)),
            ("previous", flag("previous")),
            ("sinceSeconds", number(self.since_seconds)),
            ("sinceTime", self.since_time.as_ref().map(zero)),
            ("tailLines", number(self.tail_lines)),
            ("timestamps", flag("timestamps")),
        ];
        let parameters = parameters.into_iter().filter_map(|(name, value)| Some((name, value?)));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish()
    }
}
