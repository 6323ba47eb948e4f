//! Which subject and usages a signer allows: `pkg/apis/certificates/helpers.go` (v1.37.1).

use crate::tools::Asked;

pub(super) const API_CLIENT: &str = "kubernetes.io/kube-apiserver-client";
pub(super) const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
pub(super) const KUBELET_SERVING: &str = "kubernetes.io/kubelet-serving";
pub(super) const LEGACY: &str = "kubernetes.io/legacy-unknown";

const NODES: &str = "system:nodes";
const NODE: &str = "system:node:";

/// Checks a request against the rules of its signer; `None` if the signer is not of Kubernetes' own.
pub(super) fn check(signer: &str, asked: &Asked, usages: &[&str]) -> Option<Result<(), String>> {
    Some(match signer {
        KUBELET_SERVING => kubelet_serving(asked, usages),
        KUBELET_CLIENT => kubelet_client(asked, usages),
        API_CLIENT => api_client(usages),
        LEGACY => Ok(()),
        _ => return None,
    })
}

/// `ValidateKubeletClientCSR`.
pub(super) fn kubelet_client(asked: &Asked, usages: &[&str]) -> Result<(), String> {
    let not_allowed = |kind: &str| Err(format!("{kind} subjectAltNames are not allowed"));
    of_nodes(asked)?;
    match asked {
        Asked { has_dns_names: true, .. } => return not_allowed("DNS"),
        Asked { has_emails: true, .. } => return not_allowed("Email"),
        Asked { has_addresses: true, .. } => return not_allowed("IP"),
        Asked { has_uris: true, .. } => return not_allowed("URI"),
        _ => {}
    }
    of_a_node(asked, usages, "client auth")
}

/// `ValidateKubeletServingCSR`.
fn kubelet_serving(asked: &Asked, usages: &[&str]) -> Result<(), String> {
    of_nodes(asked)?;
    match asked {
        Asked { has_dns_names: false, has_addresses: false, .. } => {
            return Err("DNS or IP subjectAltName is required".into());
        }
        Asked { has_emails: true, .. } => return Err("Email subjectAltNames are not allowed".into()),
        Asked { has_uris: true, .. } => return Err("URI subjectAltNames are not allowed".into()),
        _ => {}
    }
    of_a_node(asked, usages, "server auth")
}

fn of_nodes(asked: &Asked) -> Result<(), String> {
    match asked.organizations == [NODES] {
        true => Ok(()),
        false => Err("subject organization is not system:nodes".into()),
    }
}

/// Keys that cannot encipher need not say that they do.
fn of_a_node(asked: &Asked, usages: &[&str], purpose: &'static str) -> Result<(), String> {
    let mut set: Vec<&str> = usages.to_vec();
    set.sort_unstable();
    set.dedup();
    let mut wanted = ["digital signature", "key encipherment", purpose];
    wanted.sort_unstable();
    let least: Vec<&str> = wanted.into_iter().filter(|usage| *usage != "key encipherment").collect();
    if set != wanted && set != least {
        return Err(format!("usages did not match [{}]", wanted.join(" ")));
    }
    match asked.common_name.starts_with(NODE) {
        true => Ok(()),
        false => Err("subject common name does not begin with system:node:".into()),
    }
}

/// `validAPIServerClientUsages`.
fn api_client(usages: &[&str]) -> Result<(), String> {
    let allowed = ["digital signature", "key encipherment", "client auth"];
    if let Some(other) = usages.iter().find(|usage| !allowed.contains(usage)) {
        return Err(format!("invalid usage for client certificate: {other}"));
    }
    match usages.contains(&"client auth") {
        true => Ok(()),
        false => Err("missing required usage for client certificate: client auth".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> Asked {
        let (common_name, organizations) = ("system:node:a".to_owned(), vec!["system:nodes".to_owned()]);
        Asked { common_name, organizations, ..Asked::default() }
    }

    #[test]
    fn a_signer_has_rules() {
        let client = ["client auth", "digital signature"];
        let serving = ["server auth", "key encipherment", "digital signature"];
        let named = Asked { has_dns_names: true, ..node() };
        let other = Asked { common_name: "a".into(), ..node() };
        let group = Asked { organizations: vec!["system:nodes".into(), "b".into()], ..node() };
        let table: [(&str, &Asked, &[&str], &str); 9] = [
            (KUBELET_CLIENT, &node(), &client, ""),
            (KUBELET_CLIENT, &named, &client, "DNS subjectAltNames are not allowed"),
            (KUBELET_CLIENT, &group, &client, "subject organization is not system:nodes"),
            (KUBELET_CLIENT, &other, &client, "subject common name does not begin with system:node:"),
            (
                KUBELET_CLIENT,
                &node(),
                &serving,
                "usages did not match [client auth digital signature key encipherment]",
            ),
            (KUBELET_SERVING, &node(), &serving, "DNS or IP subjectAltName is required"),
            (KUBELET_SERVING, &named, &serving, ""),
            (API_CLIENT, &other, &["client auth"], ""),
            (API_CLIENT, &other, &["server auth"], "invalid usage for client certificate: server auth"),
        ];
        for (signer, asked, usages, why) in table {
            let refused = check(signer, asked, usages).expect("a signer").err();
            assert_eq!(refused.unwrap_or_default(), why, "{signer} {usages:?}");
        }
        assert_eq!(check("example.com/own", &node(), &[]), None);
    }
}
