//! The values of all flags, as `/flagz` tells them: those of kube-apiserver, given or not, and of its own those that were given.
//!
//! Follows `String` of the types in `github.com/spf13/pflag` (v1.0.10) and in `k8s.io/component-base/cli/flag` (v0.37.1).

use super::table::{FLAGS, Flag, find};
use super::{Flags, values};
use super::{csv, go_values};
use fake_apiserver::internals::{go_duration, parse_duration};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The flags whose default here is another one, whatever the program is called.
const OTHER_DEFAULTS: [(&str, &str); 5] = [
    ("bind-address", "127.0.0.1"),
    ("cert-dir", ""),
    ("http2-max-streams-per-connection", "1000"),
    ("service-account-issuer", "[https://kubernetes.default.svc]"),
    // What kube-apiserver completes of its own.
    ("watch-cache-sizes", "[events#0,events.events.k8s.io#0]"),
];
/// The same for a program that is not called `kube-apiserver`.
const OWN_DEFAULTS: [(&str, &str); 2] = [("allow-privileged", "true"), ("authorization-mode", "[AlwaysAllow]")];

impl Flags {
    /// The names and values of the flags.
    pub(super) fn told(&self) -> BTreeMap<String, String> {
        let own = self.given.iter().filter(|(name, _)| find(name).is_none());
        let own =
            own.map(|(name, words)| (name.clone(), if words.is_empty() { "true".into() } else { words.join(",") }));
        let all = FLAGS.iter().map(|flag| {
            let value = match self.given.get(flag.name) {
                Some(words) => printed(flag, words),
                None => self.default_of(flag).to_owned(),
            };
            (flag.name.to_owned(), value)
        });
        let mut told: BTreeMap<String, String> = all.chain(own).collect();
        for (name, value) in self.completed() {
            if !self.given.contains_key(name) {
                told.insert(name.to_owned(), value);
            }
        }
        told
    }

    /// The values of flags that follow from others, as kube-apiserver completes them.
    fn completed(&self) -> Vec<(&'static str, String)> {
        let address = self.advertised().unwrap_or(self.bind_address).to_string();
        let mut completed = vec![("advertise-address", address.clone()), ("external-hostname", address)];
        if let Some(folder) = self.cert_dir.as_ref().filter(|_| self.tls_cert_file.is_none()) {
            let file = |name| folder.join(name).display().to_string();
            completed.push(("tls-cert-file", file("apiserver.crt")));
            completed.push(("tls-private-key-file", file("apiserver.key")));
        }
        completed.extend(self.denies_anonymous().map(|_| ("anonymous-auth", "false".to_owned())));
        completed
    }

    fn default_of(&self, flag: &'static Flag) -> &'static str {
        let own = OWN_DEFAULTS.iter().filter(|_| !self.is_bare());
        let mut defaults = OTHER_DEFAULTS.iter().chain(own);
        defaults.find(|(name, _)| *name == flag.name).map_or(flag.default, |(_, default)| default)
    }
}

/// The value of a flag that was given with some words.
fn printed(flag: &'static Flag, words: &[String]) -> String {
    let items = words.iter().flat_map(|word| go_values::read(flag, word).unwrap_or_else(|_| vec![word.clone()]));
    shown(flag, &items.collect::<Vec<_>>())
}

/// The value of a flag with those items.
pub(super) fn shown(flag: &'static Flag, items: &[String]) -> String {
    let last = || items.last().cloned().unwrap_or_default();
    match flag.kind {
        "stringSlice" | "stringArray" => format!("[{}]", csv::line(items)),
        "int32Slice" => format!("[{}]", items.join(",")),
        "stringToString" => format!("[{}]", csv::line(&pairs(&pairs_in_csv(items)))),
        "mapStringString" => pairs(items).join(","),
        "colonSeparatedMultimapStringString" => by_component(items),
        "pattern=N,..." => items.join(","),
        "namedCertKey" => format!("[{}]", items.join(";")),
        "duration" => duration(&last()),
        "float32" | "float64" => last().parse().map_or_else(|_| last(), go_text::float),
        "portRange" => values::port_range(&last()).map_or_else(|_| last(), ports),
        "ip" if items.is_empty() => flag.default.to_owned(),
        "bool" | "version" if items.is_empty() => flag.bare.unwrap_or_default().to_owned(),
        _ => last(),
    }
}

fn ports(range: RangeInclusive<u16>) -> String {
    format!("{}-{}", range.start(), range.end())
}

/// A duration, which may be negative.
fn duration(text: &str) -> String {
    let (sign, length) = text.strip_prefix('-').map_or(("", text), |length| ("-", length));
    parse_duration(length).map_or_else(|_| text.to_owned(), |length| format!("{sign}{}", go_duration(length)))
}

/// The pairs in values that are one pair, which may be in quotes, or a line of several.
fn pairs_in_csv(values: &[String]) -> Vec<String> {
    let pairs = |value: &String| match value.matches('=').count() {
        1 => vec![value.trim_matches('"').to_owned()],
        _ => csv::fields(value).unwrap_or_default(),
    };
    values.iter().flat_map(pairs).collect()
}

/// The keys and values of pairs, as `pflag` reads maps of texts.
pub(super) fn pairs_of(values: &[String]) -> Vec<(String, String)> {
    let pair = |pair: String| pair.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.to_owned()));
    pairs_in_csv(values).into_iter().filter_map(pair).collect()
}

/// The pairs of a map, sorted; of the same key the last one.
fn pairs(items: &[String]) -> Vec<String> {
    let pair = |item: &String| {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        (key.trim().to_owned(), value.trim().to_owned())
    };
    let map: BTreeMap<String, String> = items.iter().map(pair).collect();
    map.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

/// Feature gates by component, which is empty if none is named.
fn by_component(items: &[String]) -> String {
    let mut gates: Vec<(&str, &str)> = items
        .iter()
        .map(|item| item.split_once(':').unwrap_or(("", item)))
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect();
    gates.sort_by_key(|(component, _)| *component);
    gates.into_iter().map(|(component, gate)| format!("{component}:{gate}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that kube-apiserver 1.37 tells.
    #[test]
    fn values_are_printed_as_go_does() {
        for (argument, expected) in [
            ("--allow-privileged", "true"),
            ("--allow-privileged=T", "true"),
            ("--request-timeout=90s", "1m30s"),
            ("--service-account-issuer=https://a,b", "[\"https://a,b\"]"),
            ("--enable-admission-plugins=PodSecurity,NamespaceLifecycle", "[PodSecurity,NamespaceLifecycle]"),
            ("--runtime-config=b=1,a", "a=,b=1"),
            ("--feature-gates=kube:AllAlpha=false,AllBeta=F", ":AllBeta=F,kube:AllAlpha=false"),
            ("--service-node-port-range=30000+9", "30000-30009"),
            ("--v=3", "3"),
        ] {
            let (name, _) = argument.trim_start_matches('-').split_once('=').unwrap_or((&argument[2..], ""));
            let told = Flags::from_arguments([argument]).map(|flags| flags.told()[name].clone());
            assert_eq!(told.as_deref(), Ok(expected), "{argument}");
        }
    }

    #[test]
    fn own_flags_are_told_if_they_are_given() {
        let flags = Flags::from_arguments(["--replicas=2", "--exit-with-stdin"]).expect("flags");
        let told = flags.told();
        assert_eq!((&*told["replicas"], &*told["exit-with-stdin"]), ("2", "true"));
        assert_eq!(told.len(), FLAGS.len() + 2);
        assert_eq!(&*told["bind-address"], "127.0.0.1");
    }
}
