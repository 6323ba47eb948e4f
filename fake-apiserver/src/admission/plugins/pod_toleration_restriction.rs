//! The plugin `PodTolerationRestriction`: pods get the tolerations of their namespace, and may have only those that it allows.
//!
//! Follows `plugin/pkg/admission/podtolerationrestriction/admission.go` (v1.37.1).

use super::namespace_lifecycle;
use super::tolerations::{covers, merge};
use crate::admission::{Attributes, Immediate, Operation, Plugin};
use crate::admission::{Config, PluginError};
use crate::configuration::Strictness;
use crate::error::{ApiError, ApiResult, Errors, Path};
use crate::object::meta;
use crate::registry::{check_tolerations, child, items, quality_of_service, text};
use crate::schema;
use tree::{Value, json};

const NAME: &str = "PodTolerationRestriction";
const KINDS: [(&str, &str); 1] = [("podtolerationrestriction.admission.k8s.io/v1alpha1", "Configuration")];

/// The annotations of a namespace.
const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

/// The plugin `PodTolerationRestriction`.
pub(super) struct PodTolerationRestriction {
    /// The tolerations for namespaces without any.
    defaults: Vec<Value>,
    /// The tolerations that are allowed where a namespace says nothing about it; all, if there are none.
    whitelist: Vec<Value>,
}

impl PodTolerationRestriction {
    /// The plugin with its configuration.
    ///
    /// # Errors
    /// If that is wrong.
    pub(super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        let configuration = config.decoded(NAME, &KINDS, Strictness::Lenient)?.unwrap_or_default();
        let [defaults, whitelist] = ["default", "whitelist"].map(|field| items(&configuration, &format!("/{field}")));
        let errors = Errors::of(|errors| {
            let at = Path::new("podtolerationrestriction");
            check_tolerations(at.child("default"), defaults, errors);
            check_tolerations(at.child("whitelist"), whitelist, errors);
        });
        if !errors.is_empty() {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err(PluginError::not_made(NAME, format!("invalid config: [{}]", errors.join(" "))));
        }
        Ok(Box::new(PodTolerationRestriction { defaults: defaults.to_vec(), whitelist: whitelist.to_vec() }))
    }
}

impl Immediate for PodTolerationRestriction {
    fn admit(&self, write: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if !is_checked(write) {
            return Ok(());
        }
        let mut extra = Vec::new();
        if write.operation == Operation::Create {
            extra = annotated(write, DEFAULTS)?.unwrap_or_else(|| self.defaults.clone());
        }
        let class = match text(pod, "/status/qosClass") {
            "" => quality_of_service(pod),
            class => class,
        };
        if class != "BestEffort" {
            extra.push(
                json!({"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}),
            );
        }
        if !extra.is_empty() {
            let merged = merge(items(pod, "/spec/tolerations"), &extra);
            child(pod, "spec")["tolerations"] = merged.into();
        }
        self.check(write, pod)
    }

    fn check(&self, write: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        let tolerations = items(pod, "/spec/tolerations");
        if !is_checked(write) || tolerations.is_empty() {
            return Ok(());
        }
        let own = annotated(write, WHITELIST)?;
        let (whitelist, scope) = match &own {
            Some(own) => (own, "namespace"),
            None => (&self.whitelist, "cluster"),
        };
        let is_allowed = |toleration: &Value| whitelist.iter().any(|allowed| covers(allowed, toleration));
        if whitelist.is_empty() || tolerations.iter().all(is_allowed) {
            return Ok(());
        }
        let what = "pod tolerations (possibly merged with namespace default tolerations)";
        Err(ApiError::untyped(format!("{what} conflict with its {scope} whitelist")))
    }
}

fn is_checked(write: &Attributes<'_>) -> bool {
    write.is_about("pods", "") && matches!(write.operation, Operation::Create | Operation::Update)
}

/// The tolerations in an annotation of the namespace (`extractNSTolerations`); `None` without it.
fn annotated(write: &Attributes<'_>, annotation: &str) -> ApiResult<Option<Vec<Value>>> {
    let namespace = write.own_namespace().ok_or_else(|| namespace_lifecycle::missing(write.namespace))?;
    let namespace = namespace.object();
    let Some(text) = meta::annotations(&namespace).get(annotation) else { return Ok(None) };
    if text.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let pod = schema::lookup("v1", "Pod").expect("pods have a type");
    let at = |ty: schema::TypeRef<'static>, field: &str| ty.of(ty.field(field).expect("Kubernetes has the field"));
    let ty = at(at(pod, "spec").target(), "tolerations");
    let decoded = schema::decode_json(text.as_bytes(), ty).map_err(|error| ApiError::untyped(error.to_string()))?;
    Ok(Some(decoded.object.as_array().cloned().unwrap_or_default()))
}
