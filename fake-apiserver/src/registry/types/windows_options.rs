//! `WindowsSecurityContextOptions`: users and credentials of processes on Windows, and containers that run on the host itself.
//!
//! Follows `validateWindowsSecurityContextOptions` and `validateWindowsHostProcessPod` of `pkg/apis/core/validation/validation.go`
//! (v1.37.1).

use super::all_containers::each_container;
use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;

/// The length of the longest specification of credentials, in KiB.
const LONGEST_CREDENTIALS: usize = 64;
/// The lengths in bytes of the longest domain and one more, and of the longest user.
const DOMAIN: usize = 256;
const USER: usize = 104;

/// Rules for `windowsOptions`.
pub(super) fn windows_options(options: At<'_, '_>, errors: &mut Errors) {
    if !options.is_set() {
        return;
    }
    let named = options.field("gmsaCredentialSpecName");
    if named.is_set() {
        named.follows(name::dns_subdomain, errors);
    }
    let credentials = options.field("gmsaCredentialSpec");
    match credentials.text().len() {
        _ if !credentials.is_set() => {}
        0 => credentials.invalid("gmsaCredentialSpec cannot be an empty string", errors),
        length if length > LONGEST_CREDENTIALS * 1024 => {
            credentials.invalid(format!("gmsaCredentialSpec size must be under {LONGEST_CREDENTIALS} KiB"), errors);
        }
        _ => {}
    }
    let user = options.field("runAsUserName");
    if user.is_set() {
        user_name(&user, errors);
    }
}

/// Rules for the name of a user, with or without a domain.
fn user_name(name: &At<'_, '_>, errors: &mut Errors) {
    let text = name.text();
    let mut object = |detail: &str| name.invalid(detail.to_owned(), errors);
    if text.is_empty() {
        return object("runAsUserName cannot be an empty string");
    }
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return object("runAsUserName cannot contain control characters");
    }
    if text.matches('\\').count() > 1 {
        return object("runAsUserName cannot contain more than one backslash");
    }
    let (domain, user) = text.split_once('\\').map_or((None, text), |(domain, user)| (Some(domain), user));
    if domain.is_some_and(|domain| domain.len() >= DOMAIN) {
        object(&format!("runAsUserName's Domain length must be under {DOMAIN} characters"));
    }
    if domain.is_some_and(|domain| !is_net_bios(domain) && !is_dns(domain)) {
        object("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
    if user.is_empty() {
        object("runAsUserName's User cannot be empty");
    } else if user.len() > USER {
        object(&format!("runAsUserName's User length must not be longer than {USER} characters"));
    }
    if !user.is_empty() && user.chars().all(|letter| matches!(letter, '.' | ' ')) {
        object("runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(['"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']) {
        object(r#"runAsUserName's User cannot contain the following characters: "/\:;|=,+*?<>@[]"#);
    }
}

fn is_net_bios(domain: &str) -> bool {
    (1..=15).contains(&domain.chars().count())
        && !domain.starts_with('.')
        && !domain.contains(['\\', '/', ':', '*', '?', '"', '<', '>', '|'])
}

fn is_dns(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric();
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| is_plain(&byte) || byte == b'-')
            && label.as_bytes().first().is_some_and(is_plain)
            && label.as_bytes().last().is_some_and(is_plain)
    })
}

/// Rules for a pod with containers that run on the host itself.
pub(super) fn host_processes(pod: At<'_, '_>, errors: &mut Errors) {
    const FIELD: &str = "securityContext.windowsOptions.hostProcess";
    let of_pod = pod.field(FIELD).value().as_bool();
    let (mut all, mut on_host) = (0, 0);
    each_container(&pod, |container| {
        let own = container.field(FIELD);
        all += 1;
        if let (Some(of_pod), Some(of_container)) = (of_pod, own.value().as_bool())
            && of_pod != of_container
        {
            let detail = format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            own.invalid(detail, errors);
        }
        on_host += usize::from(own.value().as_bool().or(of_pod).unwrap_or_default());
    });
    if on_host == 0 {
        return;
    }
    if on_host != all {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        pod.invalid_value("", detail, errors);
    }
    let network = pod.field("hostNetwork");
    if !network.flag() {
        network.invalid_value(false, "hostNetwork must be true if pod contains any hostProcess containers", errors);
    }
    errors.push(
        FieldError::privileged(pod.path()).with_detail("hostProcess containers are disallowed by cluster policy"),
    );
}
