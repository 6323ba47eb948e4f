//! Credentials for webhooks: the users of a kubeconfig, whose names are the addresses that they are for.
//!
//! Follows `pkg/util/webhook/authentication.go` of `k8s.io/apiserver`, and `tools/clientcmd/loader.go` of `k8s.io/client-go` (v0.37.1).
//!
//! GAP: validatingwebhookconfigurations: credentials for webhooks that a program makes (`exec`)

use std::collections::BTreeMap;
use std::path::Path;
use tree::Value;

/// The address of the server itself, which no user of a kubeconfig is for.
const OWN: &str = "kubernetes.default.svc:443";
/// The name of the user for all addresses that no other one is for.
const ANY: &str = "*";
/// The fields of a user with paths.
const PATHS: [&str; 3] = ["client-certificate", "client-key", "tokenFile"];

/// The credentials for webhooks; by default, none.
#[derive(Default)]
pub(crate) struct Credentials {
    /// The users, as kubeconfigs describe them.
    users: BTreeMap<String, Value>,
    /// The user of the current context.
    current: Option<String>,
}

impl Credentials {
    /// The users of a decoded kubeconfig, the paths in which begin at that folder.
    ///
    /// # Errors
    /// If two have the same name, or the credentials of one are made by a program.
    pub(crate) fn of(kubeconfig: &Value, folder: &Path) -> Result<Credentials, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let items = |name: &str| kubeconfig[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut users = BTreeMap::new();
        for own in items("users") {
            let (name, mut user) = (text(&own["name"]), own["user"].clone());
            if !user["exec"].is_null() {
                return Err(format!("fake-apiserver does not support exec, which the user {name:?} has"));
            }
            for field in PATHS {
                let path = text(&user[field]);
                if !path.is_empty() {
                    user[field] = folder.join(path).display().to_string().into();
                }
            }
            if users.insert(name.clone(), user).is_some() {
                // Go prints the list, too, with all secrets.
                let what = "error converting *[]NamedAuthInfo into *map[string]*api.AuthInfo";
                return Err(format!("{what}: duplicate name \"{name}\" in list"));
            }
        }
        let current = text(&kubeconfig["current-context"]);
        let context = items("contexts").iter().find(|context| !current.is_empty() && context["name"] == *current);
        Ok(Credentials { users, current: context.map(|context| text(&context["context"]["user"])) })
    }

    /// The user of the current context, if it has one.
    pub(super) fn current(&self) -> Option<&Value> {
        self.users.get(self.current.as_ref()?)
    }

    /// The user for a host and port; `None` if the webhook there is asked anonymously.
    pub(super) fn user(&self, address: &str) -> Option<&Value> {
        if self.users.is_empty() || address == OWN {
            return None;
        }
        let host = address.strip_suffix(":443").map(|host| host.trim_start_matches('[').trim_end_matches(']'));
        let mut named = [Some(address), host].into_iter().flatten().flat_map(patterns);
        let named = named.find_map(|name| self.users.get(&*name));
        named.or_else(|| self.users.get(ANY)).or_else(|| self.current())
    }
}

/// The names of users for an address: itself, and those with a star in place of the steps before a dot.
fn patterns(address: &str) -> impl Iterator<Item = String> + '_ {
    let stars = address.match_indices('.').map(|(dot, _)| format!("*{}", &address[dot..]));
    std::iter::once(address.to_owned()).chain(stars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    /// The token of the user for an address, of users with these names, whose tokens are their names.
    fn chosen(names: &[&str], current: &str, address: &str) -> String {
        let users: Vec<Value> = names.iter().map(|name| json!({"name": *name, "user": {"token": *name}})).collect();
        let contexts = json!([{"name": "c", "context": {"user": current}}]);
        let kubeconfig = json!({"users": users, "contexts": contexts, "current-context": "c"});
        let credentials = Credentials::of(&kubeconfig, Path::new("/folder")).unwrap();
        credentials.user(address).map_or("none", |user| user["token"].as_str().unwrap()).to_owned()
    }

    #[test]
    fn the_most_specific_user_is_chosen() {
        let all = ["a.b.svc:443", "a.b.svc", "*.b.svc:443", "*.svc:443", "*.b.svc", "*.svc", "*", "x"];
        for (left_out, expected) in all.iter().enumerate().take(7) {
            assert_eq!(
                chosen(&all[left_out..], "x", "a.b.svc:443"),
                match *expected {
                    // The names with a port come first.
                    "a.b.svc" => "*.b.svc:443",
                    expected => expected,
                }
            );
        }
        assert_eq!(chosen(&["a.b.svc", "*.b.svc"], "", "a.b.svc:443"), "a.b.svc");
        for (names, current, address, expected) in [
            (&["a.b.svc", "*.svc", "*.svc:444"][..], "", "a.b.svc:444", "*.svc:444"),
            (&["a.b.svc", "*.svc"], "", "a.b.svc:444", "none"),
            (&["127.0.0.1:84", "127.0.0.1"], "", "127.0.0.1:84", "127.0.0.1:84"),
            (&["::1"], "", "[::1]:443", "::1"),
            (&["*.0.0.1"], "", "127.0.0.1:443", "*.0.0.1"),
            (&["x", "y"], "y", "a.example.com:443", "y"),
            (&["x", "*"], "x", "a.example.com:443", "*"),
            (&["x"], "z", "a.example.com:443", "none"),
            (&["*", "kubernetes.default.svc"], "", "kubernetes.default.svc:443", "none"),
            (&[], "", "a.b.svc:443", "none"),
        ] {
            assert_eq!(chosen(names, current, address), expected, "{names:?} {address}");
        }
    }

    #[test]
    fn paths_begin_at_the_folder_of_the_file() {
        let user = json!({"client-certificate": "a.crt", "client-key": "/keys/a.key", "tokenFile": ""});
        let kubeconfig = json!({"users": [{"name": "*", "user": user}]});
        let credentials = Credentials::of(&kubeconfig, Path::new("/folder")).unwrap();
        let user = credentials.user("a:1").unwrap();
        assert_eq!(user["client-certificate"], "/folder/a.crt");
        assert_eq!((&user["client-key"], &user["tokenFile"]), (&json!("/keys/a.key"), &json!("")));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let error = |users: Value| Credentials::of(&json!({"users": users}), Path::new("/")).err().unwrap();
        let exec = json!([{"name": "a", "user": {"exec": {"command": "b"}}}]);
        assert_eq!(error(exec), "fake-apiserver does not support exec, which the user \"a\" has");
        let twice = json!([{"name": "a", "user": {}}, {"name": "a", "user": {}}]);
        assert!(error(twice).ends_with("duplicate name \"a\" in list"));
    }
}
