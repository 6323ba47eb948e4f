//! Front proxies: a request with the certificate of one says in its headers who makes it.
//!
//! Ports `pkg/authentication/request/headerrequest/requestheader.go` and `NewDynamicCAVerifier` of `.../x509/x509.go` of
//! `k8s.io/apiserver`, and `RequestHeaderAuthenticationOptions` of `pkg/server/options/authentication.go` there (v0.37.1). The headers are not
//! removed from a request that is authenticated by them, as this server sends no request on.

use super::authentication_options::FrontProxyOptions;
use super::authorities::ClientAuthorities;
use super::certificates::ClientCertificate;
use crate::files;
use crate::user::User;
use http::HeaderMap;
use http::header::HeaderName;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// The proxies that are trusted.
#[derive(Debug, Clone)]
pub struct FrontProxy {
    pub(crate) authorities: ClientAuthorities,
    pub(crate) options: FrontProxyOptions,
}

impl FrontProxy {
    /// The proxies that the options describe; `None`, if they name no authorities.
    ///
    /// # Errors
    /// In kube-apiserver's words, if the file with the authorities cannot be used.
    pub(crate) fn read(options: &FrontProxyOptions) -> Result<Option<FrontProxy>, String> {
        let Some(path) = &options.client_ca_file else { return Ok(None) };
        let content = files::read(path)?;
        let name = format!("\"request-header::{}\"", path.display());
        if content.is_empty() {
            return Err(format!("missing content for CA bundle {name}"));
        }
        let authorities = ClientAuthorities::from_pem(&String::from_utf8_lossy(&content))
            .map_err(|why| format!("error loading CA bundle for {name}: {why}"))?;
        Ok(Some(FrontProxy { authorities, options: options.clone() }))
    }

    /// The user whom a proxy with that certificate names; `None`, if it names none.
    ///
    /// # Errors
    /// If the certificate is not that of a proxy, in the real server's words.
    pub(super) fn user(
        &self,
        headers: &HeaderMap,
        certificate: &ClientCertificate,
        now: Timestamp,
    ) -> Result<Option<User>, String> {
        let Some(common_name) = certificate.of_proxy(&self.authorities, now)? else { return Ok(None) };
        let FrontProxyOptions { allowed_names, username_headers, uid_headers, group_headers, .. } = &self.options;
        if !allowed_names.is_empty() && !allowed_names.contains(&common_name) {
            return Err(format!("x509: subject with cn={common_name} is not in the allowed list"));
        }
        let Some(name) = first(headers, username_headers) else { return Ok(None) };
        Ok(Some(User {
            name,
            uid: first(headers, uid_headers).unwrap_or_default(),
            groups: group_headers.iter().flat_map(|name| values(headers, name)).filter(|one| !one.is_empty()).collect(),
            extra: self.extra(headers),
        }))
    }

    /// `newExtra`
    fn extra(&self, headers: &HeaderMap) -> BTreeMap<String, Vec<String>> {
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for prefix in &self.options.extra_headers_prefix {
            let prefix = prefix.to_ascii_lowercase();
            for name in headers.keys().map(HeaderName::as_str) {
                if let Some(key) = name.strip_prefix(&prefix) {
                    extra.entry(unescaped(key)).or_default().extend(values(headers, name));
                }
            }
        }
        extra
    }
}

/// The first value of the first header that has one.
fn first(headers: &HeaderMap, names: &[String]) -> Option<String> {
    names.iter().find_map(|name| values(headers, name).next().filter(|value| !value.is_empty()))
}

fn values<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = String> + use<'h> {
    // What cannot be a header's name is none's.
    let name = HeaderName::try_from(name).ok();
    let all = name.map(|name| headers.get_all(name).into_iter()).into_iter().flatten();
    all.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// A key, as it is where it is escaped wrongly.
fn unescaped(key: &str) -> String {
    let is_escape = |part: &str| part.len() >= 2 && part.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    match key.split('%').skip(1).all(is_escape) {
        true => percent_decode_str(key).decode_utf8_lossy().into_owned(),
        false => key.to_owned(),
    }
}

impl FrontProxyOptions {
    /// The findings about the options (`Validate`), without that about authorities.
    pub(crate) fn findings(&self) -> Vec<String> {
        let lists = [
            ("requestheader-username-headers", &self.username_headers),
            ("requestheader-group-headers", &self.group_headers),
            ("requestheader-extra-headers-prefix", &self.extra_headers_prefix),
            ("requestheader-allowed-names", &self.allowed_names),
            ("requestheader-uid-headers", &self.uid_headers),
        ];
        let has_empty = |list: &[String]| list.iter().any(|name| name.trim().is_empty());
        let empty = lists.into_iter().filter(|(_, list)| has_empty(list));
        let mut findings: Vec<String> = empty.map(|(flag, _)| format!("empty value in {flag:?}")).collect();
        let lacks =
            |list: &[String], name: &str| !list.is_empty() && !list.iter().any(|one| one.eq_ignore_ascii_case(name));
        if lacks(&self.uid_headers, "X-Remote-Uid") {
            findings.push(
                "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work"
                    .into(),
            );
        }
        findings
    }

    /// The finding about authorities that also vouch for clients, which could all be proxies (`BuiltInAuthenticationOptions.Validate`).
    pub(crate) fn overlap(proxy: &FrontProxy, clients: Option<&ClientAuthorities>) -> Option<&'static str> {
        let own = proxy.authorities.pool().certificates();
        let clients = clients.filter(|_| proxy.options.allowed_names.is_empty());
        let is_shared =
            clients.is_some_and(|clients| clients.pool().certificates().iter().any(|one| own.contains(one)));
        is_shared.then_some(
            "--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be \
             specified to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users",
        )
    }
}
