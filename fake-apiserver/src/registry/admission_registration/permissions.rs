//! The permission to read parameters, which is needed to write policies and bindings that refer to them.
//!
//! Follows `pkg/registry/admissionregistration/{validating,mutating}admissionpolic{y,ybinding}/authz.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::registry::context::{Asked, Context};
use crate::registry::{ids, text};
use crate::store::{Key, ResourceId};
use crate::user::User;
use tree::Value;

/// The group whose members may do everything.
const SUPERUSERS: &str = "system:masters";
const PARAM_KIND: Path<'static> = Path::new("spec.paramKind");
const PARAM_REF: Path<'static> = Path::new("spec.paramRef");

/// The resource of a kind: group, version and plural; the plural is `*` if it is not known.
fn resolved<'v>(context: &Context<'_>, kind: &'v Value) -> (&'v str, &'v str, Option<String>) {
    let api_version = text(kind, "/apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    (group, version, context.plural(api_version, text(kind, "/kind")))
}

/// The user whose permissions count; `None`, if everything is allowed.
fn asker<'c>(context: &Context<'c>) -> Option<&'c User> {
    context.user.filter(|user| !user.is_in(SUPERUSERS))
}

/// A policy's `paramKind`, unless there are other errors: the user must be allowed to get all objects of that kind.
pub(super) fn param_kind(context: &Context<'_>, policy: &Value, old: Option<&Value>, errors: &mut Errors) {
    let kind = &policy["spec"]["paramKind"];
    let is_known = old.is_some_and(|old| old["spec"]["paramKind"] == *kind);
    let Some(user) = asker(context).filter(|_| errors.is_empty() && !kind.is_null() && !is_known) else { return };
    let (group, version, plural) = resolved(context, kind);
    let resource = plural.as_deref().unwrap_or("*");
    let asked = Asked { verb: "get", group, version, resource, subresource: "", namespace: "*", name: "*" };
    if context.may(&asked).is_err() {
        let (kind, api_version) = (text(kind, "/kind"), text(kind, "/apiVersion"));
        errors.forbidden(
            PARAM_KIND,
            format!(
                "user {} must have \"get\" permission on all objects of the referenced paramKind (kind={kind}, \
                 apiVersion={api_version})",
                printed(user)
            ),
        );
    }
}

/// A binding's `paramRef`, unless there are other errors: the user must be allowed to read what it refers to.
pub(super) fn param_ref(context: &Context<'_>, binding: &Value, policies: ResourceId, errors: &mut Errors) {
    let reference = &binding["spec"]["paramRef"];
    let Some(user) = asker(context).filter(|_| errors.is_empty() && !reference.is_null()) else { return };
    let name = text(binding, "/spec/policyName");
    let policy = context.store.get(&Key::new(policies, "", name)).map(|entry| entry.object());
    let kind = policy.as_ref().map_or(&Value::Null, |policy| &policy["spec"]["paramKind"]);
    let (group, version, plural) = match kind {
        Value::Null => ("*", "*", None),
        kind => resolved(context, kind),
    };
    let verb = if text(reference, "/name").is_empty() { "list" } else { "get" };
    let asked = Asked {
        verb,
        group,
        version,
        resource: plural.as_deref().unwrap_or("*"),
        subresource: "",
        namespace: text(reference, "/namespace"),
        name: text(reference, "/name"),
    };
    if context.may(&asked).is_ok() {
        return;
    }
    let user = printed(user);
    let of_all = |what: String| {
        format!(
            "unable to {what} to determine minimum required permissions and user {user} does not have \"{verb}\" permission for \
             all groups, versions and resources"
        )
    };
    let why = match (&policy, kind) {
        (None, _) => of_all(format!("get policy {name}")),
        (_, kind) if !kind.is_null() && plural.is_none() => {
            let (api_version, kind) = (text(kind, "/apiVersion"), text(kind, "/kind"));
            of_all(format!("resolve paramKind &ParamKind{{APIVersion:{api_version},Kind:{kind},}}"))
        }
        // Upstream has them in the wrong order.
        _ if policies == ids::MUTATING_ADMISSION_POLICIES => {
            format!("user {verb} does not have \"{user}\" permission on the object referenced by paramRef")
        }
        _ => format!("user {user} does not have \"{verb}\" permission on the object referenced by paramRef"),
    };
    errors.forbidden(PARAM_REF, why);
}

/// A user as Go prints one.
fn printed(user: &User) -> String {
    let extra: Vec<String> = user.extra.iter().map(|(key, values)| format!("{key}:[{}]", values.join(" "))).collect();
    format!("&{{{} {} [{}] map[{}]}}", user.name, user.uid, user.groups.join(" "), extra.join(" "))
}
