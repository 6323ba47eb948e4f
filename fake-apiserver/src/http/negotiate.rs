//! Content negotiation by the `Accept` header, `?pretty` and the User-Agent.
//!
//! Follows `k8s.io/apiserver/pkg/endpoints/handlers/negotiation/negotiate.go` v0.37.1 and the parser it uses
//! (`munnerz/goautoneg`), quirks included: `q` orders clauses but never forbids one. As upstream, the header is checked
//! twice: the router compares bare media types, then the handler needs a clause whose parameters it can satisfy.
//! JSON, YAML and protobuf are supported, but watches have no YAML.

use crate::api::request::Query;
use crate::error::{ApiError, ApiResult};
use crate::registry::Version;
use crate::store::FormId;
use http::HeaderMap;
use http::header::{ACCEPT, USER_AGENT};

pub(super) use exposition::Exposition;
pub(super) use pages::{PAGE_GROUP, PageForm};

/// JSON, which every endpoint supports.
pub(super) const JSON: &str = "application/json";
/// YAML, which every endpoint but watches supports.
pub(super) const YAML: &str = "application/yaml";
/// Kubernetes' protobuf: a message in an envelope.
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// The forms of watches.
const STREAMS: [&str; 2] = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];
const META_GROUP: &str = "meta.k8s.io";

/// A version of `meta.k8s.io`; clients ask for the old one only as a fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetaVersion {
    /// `meta.k8s.io/v1`
    V1,
    /// `meta.k8s.io/v1beta1`
    V1Beta1,
}

impl MetaVersion {
    /// Its `apiVersion`.
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            MetaVersion::V1 => "meta.k8s.io/v1",
            MetaVersion::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// A form that an object or a list is converted to before it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A table for `kubectl get`.
    Table(MetaVersion),
    /// The metadata alone.
    PartialObjectMetadata(MetaVersion),
    /// The metadata of a list's items.
    PartialObjectMetadataList(MetaVersion),
}

/// The encoding of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// `application/json`
    Json {
        /// Whether it is indented; ignored for watches.
        pretty: bool,
    },
    /// `application/yaml`
    Yaml,
    /// `application/vnd.kubernetes.protobuf`
    Protobuf,
}

/// The outcome of a negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    /// The form of the response; `None` for the plain one.
    pub(crate) form: Option<Form>,
    /// The encoding.
    pub(crate) encoding: Encoding,
}

impl Output {
    /// The id by which the store keeps renderings of a version's objects; `None` for tables, whose cells have ages. Metadata
    /// is the same in all versions. YAML is printed from JSON.
    pub(crate) fn id(self, version: &Version) -> Option<FormId> {
        let form = match self.form {
            Some(Form::Table(_)) => return None,
            Some(Form::PartialObjectMetadata(meta)) => meta as u32,
            Some(Form::PartialObjectMetadataList(meta)) => 2 + meta as u32,
            None => 4 + version.number,
        };
        let encodings = 2;
        Some(FormId(encodings * form + u32::from(self.encoding == Encoding::Protobuf)))
    }

    /// The same for a single object; `None` also for forms that are sent as stored, or are rarely requested.
    pub(crate) fn id_of_single(self, version: &Version) -> Option<FormId> {
        let is_made = match self.encoding {
            Encoding::Json { pretty: false } => self.form.is_some(),
            Encoding::Protobuf => true,
            Encoding::Json { pretty: true } | Encoding::Yaml => false,
        };
        if is_made { self.id(version) } else { None }
    }
}

/// The kinds of endpoints that negotiation distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// Single objects, and deletions of collections.
    Object,
    /// Kinds that are not stored: reviews, bindings. They have no tables.
    Action,
    /// Plain text, of which only refusals are in the forms of `Action`.
    Text,
    /// GET of a collection: lists and watches.
    Collection,
    /// Documents that have one form: discovery, version.
    Document,
    /// Documents without a router before them upstream: the groups.
    Unrouted,
}

/// The preferences of a request. Missing headers are "".
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preferences<'a> {
    /// The `Accept` header.
    pub(crate) accept: &'a str,
    /// The `pretty` parameter of the query.
    pub(crate) pretty: &'a str,
    /// The `User-Agent` header.
    pub(crate) user_agent: &'a str,
}

impl<'a> Preferences<'a> {
    /// The preferences of a request.
    pub(crate) fn of(headers: &'a HeaderMap, query: &'a Query<'_>) -> Self {
        let header =
            |name| headers.get(name).and_then(|value| str::from_utf8(value.as_bytes()).ok()).unwrap_or_default();
        Preferences { accept: header(ACCEPT), pretty: query.get("pretty"), user_agent: header(USER_AGENT) }
    }

    /// Negotiates the output; `protobuf` is whether the plain form can be encoded in protobuf.
    ///
    /// # Errors
    /// 406, if no output is acceptable for the client.
    pub(crate) fn output(&self, endpoint: Endpoint, protobuf: bool) -> ApiResult<Output> {
        if let Some(encoding) = self.settled()
            && (protobuf || encoding != Encoding::Protobuf)
        {
            return Ok(Output { form: None, encoding });
        }
        if endpoint != Endpoint::Unrouted {
            self.routed(produced(endpoint))?;
        }
        let form = |encoding: Encoding, asked: Option<Conversion<'_>>| match asked {
            None => (protobuf || encoding != Encoding::Protobuf).then_some(None),
            Some(_) if matches!(endpoint, Endpoint::Document | Endpoint::Unrouted) => None,
            Some(conversion) => match conversion.meta_form()? {
                Form::Table(_)
                    if matches!(endpoint, Endpoint::Action | Endpoint::Text) || encoding == Encoding::Protobuf =>
                {
                    None
                }
                form => Some(Some(form)),
            },
        };
        let output = self.first_acceptable(form).map(|(form, encoding)| Output { form, encoding });
        output.ok_or_else(|| accepted(&[JSON, YAML, PROTOBUF]))
    }

    /// The router's check: a clause must name a media type of the route, with any parameters and quality.
    ///
    /// # Errors
    /// 406, if no clause does.
    pub(crate) fn routed(&self, produced: &[&str]) -> ApiResult<()> {
        let media_type = |clause: &'a str| clause.split(';').next().unwrap_or_default().trim_matches(' ');
        let takes = |media_type| media_type == "*/*" || produced.contains(&media_type);
        if self.accept.is_empty() || self.accept.split(',').map(media_type).any(takes) {
            return Ok(());
        }
        let representations = produced.join(", ");
        let message = format!("406: Not Acceptable\n\nAvailable representations: {representations}");
        Err(ApiError::not_acceptable(message).by_router())
    }

    /// The encoding of aggregated discovery (`apidiscovery.k8s.io/v2`), if the client accepts it; then it gets it, even if
    /// it prefers the old form.
    pub(crate) fn aggregated_discovery(&self) -> Option<Encoding> {
        if self.settled().is_some() {
            return None;
        }
        let aggregated = |_, asked: Option<Conversion<'_>>| asked?.is_aggregated_discovery().then_some(());
        self.first_acceptable(aggregated).map(|((), encoding)| encoding)
    }

    /// The index of the media type that the client prefers among some, whatever its parameters; a wildcard means the first.
    pub(crate) fn preferred(&self, media_types: &[&str]) -> Option<usize> {
        if self.accept.is_empty() {
            return Some(0);
        }
        self.clauses().iter().find_map(|clause| {
            media_types.iter().position(|media_type| {
                let (main, sub) = media_type.split_once('/').unwrap_or((media_type, ""));
                [main, "*"].contains(&clause.main) && [sub, "*"].contains(&clause.sub)
            })
        })
    }

    /// The encoding of a `Status`; indented JSON if the client accepts no encoding without a conversion.
    pub(crate) fn refusal(&self) -> Encoding {
        let plain = |_, asked: Option<Conversion<'_>>| asked.is_none().then_some(());
        self.settled()
            .or_else(|| self.first_acceptable(plain).map(|((), encoding)| encoding))
            .unwrap_or(Encoding::Json { pretty: true })
    }

    /// The encoding for the most common `Accept` headers, without parsing them.
    fn settled(&self) -> Option<Encoding> {
        match self.accept {
            "" | "*/*" | JSON | "application/json, */*" => Some(Encoding::Json { pretty: self.is_pretty() }),
            YAML => Some(Encoding::Yaml),
            PROTOBUF | "application/vnd.kubernetes.protobuf,application/json" => Some(Encoding::Protobuf),
            _ => None,
        }
    }

    /// The value of `select` for the first acceptable clause, by preference, for which it has one; and the encoding.
    fn first_acceptable<T>(
        &self,
        select: impl Fn(Encoding, Option<Conversion<'a>>) -> Option<T>,
    ) -> Option<(T, Encoding)> {
        self.clauses().iter().find_map(|clause| {
            let encoding = clause.encoding(self.is_pretty()).filter(|encoding| clause.is_available(*encoding))?;
            Some((select(encoding, clause.conversion())?, encoding))
        })
    }

    /// The clauses of the `Accept` header, by preference.
    fn clauses(&self) -> Vec<Clause<'a>> {
        let mut clauses: Vec<Clause<'_>> = self.accept.split(',').filter_map(Clause::parse).collect();
        sort::sort(&mut clauses, Clause::precedes);
        clauses
    }

    /// Whether JSON is indented: by `?pretty`, or else for a User-Agent such as curl.
    pub(crate) fn is_pretty(&self) -> bool {
        match self.pretty {
            "" => ["curl", "Wget", "Mozilla/5.0"].iter().any(|agent| self.user_agent.starts_with(agent)),
            // `strconv.ParseBool`; anything else is false.
            asked => matches!(asked, "1" | "t" | "T" | "true" | "TRUE" | "True"),
        }
    }
}

/// The media types that an endpoint's routes declare.
fn produced(endpoint: Endpoint) -> &'static [&'static str] {
    match endpoint {
        Endpoint::Collection => &[JSON, YAML, PROTOBUF, STREAMS[0], STREAMS[1]],
        Endpoint::Text => &["text/plain", JSON, YAML, PROTOBUF],
        Endpoint::Object | Endpoint::Action | Endpoint::Document | Endpoint::Unrouted => &[JSON, YAML, PROTOBUF],
    }
}

/// The refusal of a watch in YAML, which has no frames.
pub(super) fn no_stream() -> ApiError {
    accepted(&STREAMS)
}

/// The handler's 406, which names the media types that it accepts.
fn accepted(media_types: &[&str]) -> ApiError {
    ApiError::not_acceptable(format!("only the following media types are accepted: {}", media_types.join(", ")))
}

/// The halves of a text, the second of which may be missing (""), and may end with the separator; `None` if there are more.
fn halves(text: &str, separator: char) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once(separator).unwrap_or((text, ""));
    let (second, others) = rest.split_once(separator).unwrap_or((rest, ""));
    others.is_empty().then_some((first, second))
}

/// One element of an `Accept` header.
struct Clause<'a> {
    main: &'a str,
    sub: &'a str,
    quality: f32,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Clause<'a> {
    /// Parses a clause; `None` if it is not `type/subtype` (or `*`), which upstream skips, too.
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.trim_matches(' ').split(';');
        let media_type = parts.next()?;
        let (main, sub) = halves(media_type, '/')?;
        let (main, sub) = match (main.trim_matches(' '), sub) {
            ("*", "") => ("*", "*"),
            (_, "") => return None,
            (main, sub) => (main, sub.trim_matches(' ')),
        };
        let mut clause = Clause { main, sub, quality: 1.0, parameters: Vec::new() };
        for (name, value) in parts.filter_map(|pair| halves(pair, '=')) {
            match name.trim_matches(' ') {
                _ if value.is_empty() => {}
                "q" => clause.quality = quality::quality(value),
                name => clause.parameters.push((name, value.trim_matches(' '))),
            }
        }
        Some(clause)
    }

    fn precedes(&self, other: &Clause<'_>) -> bool {
        self.quality > other.quality || (self.main != "*" && other.main == "*") || (self.sub != "*" && other.sub == "*")
    }

    /// The encoding it asks for. A wildcard means JSON, the first of them, which is always available.
    fn encoding(&self, pretty: bool) -> Option<Encoding> {
        match (self.main, self.sub) {
            ("application", "json" | "*") | ("*", "*") => {
                Some(Encoding::Json { pretty: pretty || self.parameter("pretty") == Some("1") })
            }
            ("application", "yaml") => Some(Encoding::Yaml),
            ("application", "vnd.kubernetes.protobuf") => Some(Encoding::Protobuf),
            _ => None,
        }
    }

    /// Whether its `stream` is missing or, unless the encoding is YAML, `watch`. A server version (`sv`) is never available.
    fn is_available(&self, encoding: Encoding) -> bool {
        let streams = match self.parameter("stream") {
            None | Some("") => true,
            Some(stream) => stream == "watch" && encoding != Encoding::Yaml,
        };
        streams && self.parameter("sv").is_none_or(str::is_empty)
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    fn conversion(&self) -> Option<Conversion<'a>> {
        let [kind, group, version] = ["as", "g", "v"].map(|name| self.parameter(name));
        kind.or(group).or(version)?;
        Some(Conversion {
            kind: kind.unwrap_or_default(),
            group: group.unwrap_or_default(),
            version: version.unwrap_or_default(),
        })
    }
}

/// The conversion that a clause asks for: its `as`, `g` and `v`.
struct Conversion<'a> {
    kind: &'a str,
    group: &'a str,
    version: &'a str,
}

impl Conversion<'_> {
    fn meta_form(&self) -> Option<Form> {
        let version = match (self.group, self.version) {
            (META_GROUP, "v1") => MetaVersion::V1,
            (META_GROUP, "v1beta1") => MetaVersion::V1Beta1,
            _ => return None,
        };
        match self.kind {
            "Table" => Some(Form::Table(version)),
            "PartialObjectMetadata" => Some(Form::PartialObjectMetadata(version)),
            "PartialObjectMetadataList" => Some(Form::PartialObjectMetadataList(version)),
            _ => None,
        }
    }

    fn is_aggregated_discovery(&self) -> bool {
        (self.group, self.version, self.kind) == ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")
    }
}

mod exposition;
mod pages;
mod quality;
mod sort;
#[cfg(test)]
mod tests;
