//! The plugin `PodNodeSelector`: pods run only on the nodes that their namespace selects.
//!
//! Follows `plugin/pkg/admission/podnodeselector/admission.go` and `ConvertSelectorToLabelsMap` of
//! `k8s.io/apimachinery/pkg/labels` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation, Plugin};
use crate::admission::{Config, PluginError};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, FieldError};
use crate::object::{meta, name};
use crate::registry::child;
use crate::yaml;
use std::collections::BTreeMap;
use tree::Value;

/// The annotation of a namespace with its selector.
const ANNOTATION: &str = "scheduler.alpha.kubernetes.io/node-selector";
/// The key of the selector for namespaces without one.
const DEFAULT: &str = "clusterDefaultNodeSelector";

/// The plugin `PodNodeSelector`.
pub(super) struct PodNodeSelector {
    /// By namespace, the labels that its pods may select; and the default selector.
    selectors: BTreeMap<String, String>,
}

/// Labels by key.
type Labels = BTreeMap<String, String>;

impl PodNodeSelector {
    fn labels_for(&self, key: &str) -> ApiResult<Labels> {
        parse(self.selectors.get(key).map(String::as_str).unwrap_or_default())
    }

    /// `getNamespaceNodeSelectorMap`.
    fn of_namespace(&self, write: &Attributes<'_>) -> ApiResult<Labels> {
        let Some(namespace) = write.own_namespace() else {
            return Err(ApiError::internal(format!("namespace {} does not exist", write.namespace)));
        };
        match meta::annotations(&namespace.object()).get(ANNOTATION) {
            Some(selector) => parse(selector),
            None => self.labels_for(DEFAULT),
        }
    }

    fn allow(&self, write: &Attributes<'_>, pod: &Value, own: &Labels) -> ApiResult<()> {
        let refuse = |why: &str| Err(ApiError::forbidden(write.version.qualified(), meta::name(pod), why));
        let selected = selected(pod);
        if selected.iter().any(|(key, value)| own.get(key).is_some_and(|own| own != value)) {
            return refuse("pod node label selector conflicts with its namespace node label selector");
        }
        let allowed = self.labels_for(write.namespace)?;
        if !allowed.is_empty() && selected.iter().any(|(key, value)| allowed.get(key) != Some(value)) {
            return refuse("pod node label selector labels conflict with its namespace whitelist");
        }
        Ok(())
    }
}

impl PodNodeSelector {
    /// The plugin with its configuration, of which what cannot be read is ignored, as upstream does.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub(super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        let text = config.configuration.of("PodNodeSelector")?.unwrap_or_default();
        let configuration =
            yaml::parse(text.as_bytes(), &Deadline::default()).map(|document| document.value).unwrap_or_default();
        let selectors = configuration["podNodeSelectorPluginConfig"].as_object().into_iter().flatten();
        let selectors = selectors.map(|(key, value)| (key.to_string(), value.as_str().unwrap_or_default().to_owned()));
        Ok(Box::new(PodNodeSelector { selectors: selectors.collect() }))
    }
}

impl Immediate for PodNodeSelector {
    fn admit(&self, write: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if !is_checked(write) {
            return Ok(());
        }
        let own = self.of_namespace(write)?;
        let sent = selected(pod);
        for (key, value) in own.iter().filter(|(key, _)| !sent.contains_key(*key)) {
            child(child(pod, "spec"), "nodeSelector")[key.as_str()] = value.as_str().into();
        }
        self.allow(write, pod, &own)
    }

    fn check(&self, write: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        if !is_checked(write) {
            return Ok(());
        }
        self.allow(write, pod, &self.of_namespace(write)?)
    }
}

fn is_checked(write: &Attributes<'_>) -> bool {
    write.operation == Operation::Create && write.is_about("pods", "")
}

/// The labels that a pod selects nodes by.
fn selected(pod: &Value) -> Labels {
    let selector = pod["spec"]["nodeSelector"].as_object().into_iter().flatten();
    selector.map(|(key, value)| (key.to_string(), value.as_str().unwrap_or_default().to_owned())).collect()
}

/// `ConvertSelectorToLabelsMap`: labels such as `a=b,c=d`. Its errors have no type.
fn parse(selector: &str) -> ApiResult<Labels> {
    let pairs = selector.split(',').filter(|_| !selector.is_empty());
    let labels = pairs.map(|pair| {
        let parts: Vec<&str> = pair.split('=').collect();
        let [key, value] = parts[..] else {
            return Err(ApiError::untyped(format!("invalid selector: [{}]", parts.join(" "))));
        };
        let (key, value) = (key.trim(), value.trim());
        let invalid = |path: String, shown: &str, objections: Vec<String>| match objections.is_empty() {
            true => Ok(()),
            false => {
                let error = FieldError::invalid(path, &shown.into(), objections.join("; "));
                Err(ApiError::untyped(error.to_string()))
            }
        };
        invalid("<nil>".into(), key, name::label_key(key))?;
        invalid(format!("[{key}]"), value, name::label_value(value))?;
        Ok((key.to_owned(), value.to_owned()))
    });
    labels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_parsed() {
        for (selector, expected) in [
            ("", Ok("{}")),
            ("a=b, c = d", Ok(r#"{"a": "b", "c": "d"}"#)),
            ("a=", Ok(r#"{"a": ""}"#)),
            ("a", Err("invalid selector: [a]")),
            ("a=b=c", Err("invalid selector: [a b c]")),
            ("a=b,", Err("invalid selector: []")),
        ] {
            let found = parse(selector).map(|labels| format!("{labels:?}")).map_err(|error| error.to_string());
            assert_eq!(found, expected.map(str::to_string).map_err(str::to_string), "{selector}");
        }
    }
}
