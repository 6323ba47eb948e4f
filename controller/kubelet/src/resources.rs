//! The requests and limits of a container, as its files and variables have them.
//!
//! Follows kubernetes v1.37.1 `pkg/api/v1/resource/helpers.go`.

use crate::containers::containers;
use k8s_openapi::api::core::v1::{Container, Pod, ResourceFieldSelector};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use quantity::Quantity as Amount;
use std::collections::BTreeMap;

/// The quantities of resources by name.
pub type ResourceList = BTreeMap<String, Quantity>;

/// The resources whose allocatable amount is the limit of a container without one.
const LIMITED_BY_NODE: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// An error of a `resourceFieldRef`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResourceError {
    /// The pod has no such container.
    #[error("container {0} not found")]
    NoContainer(String),
    /// The resource is not supported.
    #[error("unsupported container resource : {0}")]
    Unsupported(String),
    /// A quantity is malformed.
    #[error("invalid quantity {0:?}")]
    Quantity(String),
}

/// The value that `selector` selects, of a container of `pod`. A container without a limit has that of `allocatable`
/// (`ExtractResourceValueByContainerNameAndNodeAllocatable`).
///
/// # Errors
/// If the container does not exist, or the resource is not supported.
pub fn extract(
    selector: &ResourceFieldSelector,
    pod: &Pod,
    allocatable: &ResourceList,
) -> Result<String, ResourceError> {
    let name = selector.container_name.as_deref().unwrap_or_default();
    let no_container = || ResourceError::NoContainer(name.to_owned());
    let spec = pod.spec.as_ref().ok_or_else(no_container)?;
    let container = containers(spec).find(|container| container.name == name).ok_or_else(no_container)?;
    extract_of(selector, container, allocatable)
}

/// The value that `selector` selects, of `container` (`ExtractContainerResourceValue`).
///
/// # Errors
/// If the resource is not supported.
pub fn extract_of(
    selector: &ResourceFieldSelector,
    container: &Container,
    allocatable: &ResourceList,
) -> Result<String, ResourceError> {
    let unsupported = || ResourceError::Unsupported(selector.resource.clone());
    let (kind, resource) = selector.resource.split_once('.').ok_or_else(unsupported)?;
    let by_node = LIMITED_BY_NODE.contains(&resource);
    if !by_node && !resource.starts_with("hugepages-") {
        return Err(unsupported());
    }
    let resources = container.resources.as_ref();
    let amount = |list: Option<&ResourceList>| list.and_then(|list| list.get(resource)).map(value).transpose();
    let amount = match kind {
        "requests" => amount(resources.and_then(|resources| resources.requests.as_ref()))?,
        "limits" => {
            let own = amount(resources.and_then(|resources| resources.limits.as_ref()))?;
            let lent = by_node && own.as_ref().is_none_or(Amount::is_zero);
            if lent { amount(Some(allocatable))?.or(own) } else { own }
        }
        _ => return Err(unsupported()),
    };
    let divisor = selector.divisor.as_ref().map(value).transpose()?.filter(|divisor| !divisor.is_zero());
    let number = if resource == "cpu" { Amount::milli_value } else { Amount::value };
    // In floating point, as upstream.
    let ratio = number(&amount.unwrap_or(Amount::ZERO)) as f64 / number(&divisor.unwrap_or(Amount::of(1))) as f64;
    Ok(format!("{}", ratio.ceil() as i64))
}

/// The amount of a quantity; 0 if it is not set.
fn value(quantity: &Quantity) -> Result<Amount, ResourceError> {
    match quantity.0.as_str() {
        "" => Ok(Amount::ZERO),
        text => Amount::parse(text).map_err(|_| ResourceError::Quantity(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // TestExtractContainerResourceValue, and limits from the node's allocatable resources.
    #[test]
    fn amounts_are_counted_in_divisors_and_rounded_up() {
        let pod: Pod = serde_json::from_value(json!({"spec": {
            "initContainers": [{"name": "init", "resources": {"limits": {"cpu": "9m"}}}],
            "containers": [{"name": "foo", "resources": {
                "requests": {"cpu": "100m", "memory": "64Mi", "ephemeral-storage": "100Mi", "hugepages-2Mi": "4Mi"},
                "limits": {"cpu": "1500m", "memory": "0", "hugepages-1Gi": "1Gi"},
            }}],
        }}))
        .expect("a pod");
        let allocatable: ResourceList = [("memory", "2Gi"), ("cpu", "4"), ("hugepages-2Mi", "1Gi")]
            .map(|(name, amount)| (name.into(), Quantity(amount.into())))
            .into();
        for (container, resource, divisor, expected) in [
            ("foo", "requests.cpu", "0", Ok("1")),
            ("foo", "requests.cpu", "", Ok("1")),
            ("foo", "requests.cpu", "1m", Ok("100")),
            ("foo", "limits.cpu", "1", Ok("2")),
            ("foo", "requests.memory", "1", Ok("67108864")),
            ("foo", "requests.memory", "1Mi", Ok("64")),
            ("foo", "requests.memory", "1M", Ok("68")),
            ("foo", "requests.ephemeral-storage", "1Mi", Ok("100")),
            ("foo", "limits.memory", "1Mi", Ok("2048")),
            ("foo", "limits.ephemeral-storage", "1", Ok("0")),
            ("foo", "requests.hugepages-2Mi", "1", Ok("4194304")),
            ("foo", "limits.hugepages-1Gi", "1Mi", Ok("1024")),
            ("foo", "limits.hugepages-2Mi", "1", Ok("0")),
            ("init", "limits.cpu", "1m", Ok("9")),
            ("init", "requests.cpu", "1m", Ok("0")),
            ("bar", "limits.cpu", "1", Err("container bar not found")),
            ("foo", "limits.gpu", "1", Err("unsupported container resource : limits.gpu")),
            ("foo", "cpu", "1", Err("unsupported container resource : cpu")),
            ("foo", "wishes.cpu", "1", Err("unsupported container resource : wishes.cpu")),
            ("foo", "limits.cpu", "many", Err("invalid quantity \"many\"")),
        ] {
            let selector = ResourceFieldSelector {
                container_name: Some(container.into()),
                divisor: Some(Quantity(divisor.into())),
                resource: resource.into(),
            };
            let found = extract(&selector, &pod, &allocatable).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected, "{container} {resource} {divisor}");
        }
    }
}
