//! Policies whose expressions take long, or make much of little.

use super::hooks::{GROUP, IN_FORCE, Installed, created, dry, labelled, rule, selector};
use crate::attack::catalogue::{Coded, Run};
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use anyhow::{Result, ensure};
use serde_json::{Map, Value, json};
use std::time::Instant;

const BOUNDS: Bounds = Bounds { memory_mib: 96, peak_mib: 384, descriptors: 8, threads: 16 };
/// The clients of an attack.
const CLIENTS: usize = 4;
/// How often something doubles.
const DOUBLED: usize = 14;
/// A loop in a loop that takes nearly as long as a policy may, on [`entries`] of the number that it goes with.
const LONG: (&str, usize) = ("object.data.all(a, object.data.all(b, a + b != ''))", 300);
/// The number of policies at once.
const POLICIES: usize = 5;
/// The number of parameters.
const PARAMETERS: usize = 300;

pub(super) const fn attack(name: &'static str, about: &'static str, run: Run) -> Coded {
    Coded::new(name, about, run).slow(BOUNDS)
}

/// So many entries of a config map.
fn entries(count: usize) -> Value {
    Value::Object((0..count).map(|number| (format!("k{number}"), json!("x"))).collect::<Map<_, _>>())
}

/// The specification of a validating policy with that expression, the one of that number of its attack.
fn validating((attack, number): (&str, usize), variables: &[Value], expression: &str) -> Value {
    let probe = format!("!('probe-{number}' in object.data)");
    json!({
        "failurePolicy": "Fail", "matchConstraints": {"resourceRules": [rule()], "objectSelector": selector(attack)},
        "variables": variables, "validations": [{"expression": probe}, {"expression": expression}],
    })
}

/// Creates a policy and its binding, and waits until it refuses the object that its first expression is about.
async fn install(ground: &Ground, attack: &str, number: usize, policy: Value, more: Value) -> Result<Installed> {
    let name = format!("{attack}-{number}");
    let mut binding = json!({"policyName": format!("{}-{name}", ground.namespace()), "validationActions": ["Deny"]});
    if let (Some(binding), Value::Object(more)) = (binding.as_object_mut(), more) {
        binding.extend(more);
    }
    let policy = Installed::create(ground, "validatingadmissionpolicies", &name, json!({ "spec": policy })).await?;
    let bindings = "validatingadmissionpolicybindings";
    let binding = Installed::create(ground, bindings, &name, json!({ "spec": binding })).await?;
    let begin = Instant::now();
    let probe = labelled(attack, "probe", json!({format!("probe-{number}"): "", "k0": ""}));
    while ground.ask("POST", &dry(ground), &probe).await?.0 < 400 {
        ensure!(begin.elapsed() < IN_FORCE, "the policy is not in force");
    }
    Ok(policy.and(binding))
}

/// Has clients create an object with those data, which a policy is about.
async fn policed(ground: &Ground, attack: &str, policy: Value, data: Value) -> Result<String> {
    let installed = install(ground, attack, 0, policy, json!({})).await?;
    let told = created(ground, CLIENTS, &labelled(attack, "a", data)).await?;
    installed.remove(ground).await?;
    Ok(told)
}

pub(super) async fn loops_in_loops(ground: &Ground) -> Result<String> {
    let expression = "object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != '')))";
    policed(ground, "loops", validating(("loops", 0), &[], expression), entries(2000)).await
}

/// Variables the first of which is `first`, and each other one twice that before.
fn doubled(first: &str, twice: impl Fn(&str) -> String) -> Vec<Value> {
    let expression = |number: usize| match number {
        0 => first.to_owned(),
        _ => twice(&format!("variables.v{}", number - 1)),
    };
    (0..=DOUBLED).map(|number| json!({"name": format!("v{number}"), "expression": expression(number)})).collect()
}

pub(super) async fn doubling(ground: &Ground, attack: &str, first: &str, twice: fn(&str) -> String) -> Result<String> {
    let policy = validating((attack, 0), &doubled(first, twice), &format!("variables.v{DOUBLED}.size() > 0"));
    policed(ground, attack, policy, json!({"k0": "x".repeat(1000)})).await
}

pub(super) async fn patterns(ground: &Ground) -> Result<String> {
    let expression =
        "object.data.all(k, object.data[k].matches('^(x+x+)+y$') || object.data[k].matches('(.*)(.*)(.*)z'))";
    policed(ground, "patterns", validating(("patterns", 0), &[], expression), json!({"k0": "x".repeat(900_000)})).await
}

pub(super) async fn near_the_limit(ground: &Ground) -> Result<String> {
    let (expression, count) = LONG;
    let mut installed = Installed::default();
    for number in 0..POLICIES {
        let policy = validating(("near", number), &[], expression);
        installed = installed.and(install(ground, "near", number, policy, json!({})).await?);
    }
    let told = created(ground, CLIENTS, &labelled("near", "a", entries(count))).await?;
    installed.remove(ground).await?;
    Ok(told)
}

pub(super) async fn many_parameters(ground: &Ground) -> Result<String> {
    for number in 0..PARAMETERS {
        let parameter = json!({"metadata": {"name": format!("parameter-{number}"), "labels": {"parameter": "yes"}}});
        ground.must("POST", &ground.path("secrets"), &parameter).await?;
    }
    let (expression, count) = LONG;
    let mut policy = validating(("parameters", 0), &[], &format!("params.metadata.name != '' && {expression}"));
    policy["paramKind"] = json!({"apiVersion": "v1", "kind": "Secret"});
    let chosen = json!({"selector": {"matchLabels": {"parameter": "yes"}}, "parameterNotFoundAction": "Deny"});
    let installed = install(ground, "parameters", 0, policy, json!({ "paramRef": chosen })).await?;
    let told = created(ground, 1, &labelled("parameters", "a", entries(count))).await?;
    installed.remove(ground).await?;
    ground.must("DELETE", &format!("{}?labelSelector=parameter", ground.path("secrets")), &Value::Null).await?;
    Ok(told)
}

pub(super) async fn mutations(ground: &Ground) -> Result<String> {
    const ATTACK: &str = "mutations";
    let name = format!("{}-{ATTACK}-0", ground.namespace());
    let expression = format!("Object{{data: {{'much': variables.v{DOUBLED}}}}}");
    let policy = json!({
        "failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {"resourceRules": [rule()], "objectSelector": selector(ATTACK)},
        "variables": doubled("object.data.k0", |it| format!("{it} + {it}")),
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}],
    });
    let binding = json!({ "spec": {"policyName": name} });
    let (policies, bindings) = ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings");
    let policy = Installed::create(ground, policies, &format!("{ATTACK}-0"), json!({ "spec": policy })).await?;
    let installed = policy.and(Installed::create(ground, bindings, &format!("{ATTACK}-0"), binding).await?);
    let (begin, probe) = (Instant::now(), labelled(ATTACK, "probe", json!({"k0": ""})));
    while ground.ask("POST", &dry(ground), &probe).await?.1["data"]["much"].is_null() {
        ensure!(begin.elapsed() < IN_FORCE, "the policy is not in force; {GROUP} may not be served");
    }
    let told = created(ground, CLIENTS, &labelled(ATTACK, "a", json!({"k0": "x".repeat(1000)}))).await?;
    installed.remove(ground).await?;
    Ok(told)
}
