//! Roles and bindings of which there are many, or that are long, and reviews of users with many groups.

use crate::attack::catalogue::{Coded, Run};
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const BOUNDS: Bounds = Bounds { memory_mib: 320, peak_mib: 512, descriptors: 8, threads: 24 };
const RBAC: &str = "rbac.authorization.k8s.io";
const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const OWN_RULES: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
/// The subjects of a long binding: about a megabyte.
const SUBJECTS: usize = 12_000;
/// The groups of a user with many.
const GROUPS: usize = 5000;
/// The rules of a long role.
const RULES: usize = 2500;
/// The clients of an attack.
const CLIENTS: usize = 12;
/// The time in which an aggregated role is filled.
const FILLED: Duration = Duration::from_secs(30);

const fn attack(name: &'static str, about: &'static str, run: Run) -> Coded {
    Coded::new(name, about, run).slow(BOUNDS)
}

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    attack(
        "long-bindings",
        "20 bindings of 12,000 subjects each, and 12 reviews of users with 5,000 groups.",
        |ground| Box::pin(long_bindings(ground)),
    ),
    attack(
        "bindings-that-change",
        "Bindings of 12,000 subjects are replaced again and again, while reviews ask.",
        |ground| Box::pin(bindings_that_change(ground)),
    ),
    attack(
        "many-bindings",
        "600 bindings of a missing role, and reviews of users with 5,000 groups, of which each is bound.",
        |ground| Box::pin(many_bindings(ground)),
    ),
    attack(
        "rules-against-rules",
        "A user with 2,500 rules grants 2,500 rules, in the other order, twelve times at once.",
        |ground| Box::pin(rules_against_rules(ground)),
    ),
    attack("rules-that-are-not-owned", "A user with 2,500 rules grants 2,500 others.", |ground| {
        Box::pin(rules_that_are_not_owned(ground))
    }),
    attack("own-rules", "A user with 10,000 rules asks which they are, twelve times at once.", |ground| {
        Box::pin(own_rules(ground))
    }),
    attack(
        "many-impersonated-groups",
        "Requests that act as a user with 200 groups, beside bindings of 12,000 subjects.",
        |ground| Box::pin(many_impersonated_groups(ground)),
    ),
    attack(
        "aggregated-roles",
        "300 roles that gather the rules of others, of which one changes again and again.",
        |ground| Box::pin(aggregated_roles(ground)),
    ),
    attack("a-chain-of-roles", "30 roles, each of which gathers the rules of the one before.", |ground| {
        Box::pin(a_chain_of_roles(ground))
    }),
];

/// The name of an object of the attack: no other attack has it.
fn named(ground: &Ground, name: &str) -> String {
    format!("{}-{name}", ground.namespace())
}

fn subject(kind: &str, name: &str) -> Value {
    json!({"apiGroup": RBAC, "kind": kind, "name": name})
}

/// A binding of that many groups, the last of which has a name of its own.
fn binding(ground: &Ground, name: &str, role: &str, subjects: usize, last: &str) -> Value {
    let groups = (1..subjects).map(|number| subject("Group", &format!("nobody-{number}")));
    let subjects: Vec<Value> = groups.chain([subject("Group", last)]).collect();
    let role = json!({"apiGroup": RBAC, "kind": "ClusterRole", "name": role});
    json!({"metadata": {"name": named(ground, name)}, "roleRef": role, "subjects": subjects})
}

/// A role with that many rules, each about one name.
fn role(ground: &Ground, name: &str, names: impl Iterator<Item = usize>) -> Value {
    let rule = |number: usize| json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["use"], "resourceNames": [format!("s-{number}")]});
    json!({"metadata": {"name": named(ground, name)}, "rules": names.map(rule).collect::<Vec<_>>()})
}

/// A review of a user with that many groups, and another one at last.
fn review(groups: usize, last: &str) -> Value {
    let groups: Vec<String> = (0..groups).map(|number| format!("g-{number}")).chain([last.to_owned()]).collect();
    let asked = json!({"verb": "use", "version": "v1", "resource": "secrets", "name": "s-1", "namespace": "default"});
    json!({"spec": {"user": "somebody", "groups": groups, "resourceAttributes": asked}})
}

/// The decision of a review, as the administrator asks it.
async fn decision(ground: &Ground, review: &Value) -> Result<String> {
    let answer = ground.must("POST", REVIEWS, review).await?;
    let kind = if answer["status"]["allowed"] == true { "allowed" } else { "refused" };
    let reason = answer["status"]["reason"].as_str().unwrap_or_default();
    let reason = reason.split(" not found").next().unwrap_or_default().replace(ground.namespace(), "NS");
    Ok(format!("{kind} {reason}").trim_end().to_owned())
}

/// The number of times of each text.
fn counted(texts: impl IntoIterator<Item = String>) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    texts.into_iter().for_each(|text| *counts.entry(text).or_default() += 1);
    counts.iter().map(|(text, count)| format!("{count}x {text}")).collect::<Vec<_>>().join(", ")
}

/// Deletes objects, given by the path of their kind.
async fn deleted(ground: &Ground, path: &str, names: impl Iterator<Item = String>) -> Result<()> {
    for name in names {
        ground.must("DELETE", &format!("{path}/{}", named(ground, &name)), &Value::Null).await?;
    }
    Ok(())
}

async fn long_bindings(ground: &Ground) -> Result<String> {
    let name = |number: usize| format!("long-{number}");
    ground.must("POST", ROLES, &role(ground, "long", 1..2)).await?;
    for number in 0..20 {
        let bound = named(ground, if number == 7 { "long" } else { "none" });
        let binding = binding(ground, &name(number), &bound, SUBJECTS, &format!("last-{number}"));
        ground.must("POST", BINDINGS, &binding).await?;
    }
    let reviews = (0..CLIENTS).map(|number| review(GROUPS, if number % 2 == 0 { "last-7" } else { "last" }));
    let reviews: Vec<Value> = reviews.collect();
    let decisions = try_join_all(reviews.iter().map(|review| decision(ground, review))).await?;
    ground.vigil.rounds(3).await;
    deleted(ground, BINDINGS, (0..20).map(name)).await?;
    deleted(ground, ROLES, ["long".to_owned()].into_iter()).await?;
    Ok(counted(decisions))
}

async fn bindings_that_change(ground: &Ground) -> Result<String> {
    ground.must("POST", ROLES, &role(ground, "changing", 1..2)).await?;
    let bound = named(ground, "changing");
    let name = |client: usize| format!("changing-{client}");
    for client in 0..4 {
        ground.must("POST", BINDINGS, &binding(ground, &name(client), &bound, SUBJECTS, "before")).await?;
    }
    let change = |client: usize| {
        let bound = &bound;
        async move {
            for turn in 0..5 {
                let binding = binding(ground, &name(client), bound, SUBJECTS + turn, &format!("of-{turn}"));
                ground.must("PUT", &format!("{BINDINGS}/{}", named(ground, &name(client))), &binding).await?;
            }
            anyhow::Ok(())
        }
    };
    let ask = async {
        for _ in 0..20 {
            decision(ground, &review(GROUPS, "unbound")).await?;
        }
        anyhow::Ok(())
    };
    tokio::try_join!(try_join_all((0..4).map(change)), ask)?;
    let decisions = [decision(ground, &review(10, "before")).await?, decision(ground, &review(10, "of-4")).await?];
    ground.vigil.rounds(3).await;
    deleted(ground, BINDINGS, (0..4).map(name)).await?;
    deleted(ground, ROLES, ["changing".to_owned()].into_iter()).await?;
    // A real server may visit any of the bindings first.
    Ok(decisions.map(|decision| decision.split(' ').next().unwrap_or_default().to_owned()).join(", "))
}

async fn many_bindings(ground: &Ground) -> Result<String> {
    let name = |number: usize| format!("many-{number}");
    for number in 0..600 {
        let binding = binding(ground, &name(number), &named(ground, "none"), 2, &format!("g-{number}"));
        ground.must("POST", BINDINGS, &binding).await?;
    }
    let asked = review(GROUPS, "last");
    let decisions = try_join_all((0..CLIENTS).map(|_| decision(ground, &asked))).await?;
    ground.vigil.rounds(3).await;
    deleted(ground, BINDINGS, (0..600).map(name)).await?;
    Ok(counted(decisions))
}

/// Has the attacker, who has a long role, create a role with the rules of those names, without storing it. Returns the code and the message.
async fn granted(ground: &Ground, about: &str, names: impl Iterator<Item = usize>) -> Result<Vec<(u16, String)>> {
    ground.must("POST", ROLES, &role(ground, about, 0..RULES)).await?;
    let bound = json!({"apiGroup": RBAC, "kind": "ClusterRole", "name": named(ground, about)});
    let binding = json!({"metadata": {"name": about}, "roleRef": bound, "subjects": [subject("User", "alice")]});
    let bindings = format!("/apis/{RBAC}/v1/namespaces/{}/rolebindings", ground.namespace());
    ground.must("POST", &bindings, &binding).await?;
    let (roles, wanted) =
        (format!("/apis/{RBAC}/v1/namespaces/{}/roles?dryRun=All", ground.namespace()), role(ground, "granted", names));
    let answers = try_join_all((0..CLIENTS).map(|_| ground.ask("POST", &roles, &wanted))).await?;
    ground.vigil.rounds(3).await;
    ground.must("DELETE", &format!("{bindings}/{about}"), &Value::Null).await?;
    deleted(ground, ROLES, [about.to_owned()].into_iter()).await?;
    let message = |body: &Value| body["message"].as_str().unwrap_or_default().to_owned();
    Ok(answers.iter().map(|(code, body)| (*code, message(body))).collect())
}

async fn rules_against_rules(ground: &Ground) -> Result<String> {
    let answers = granted(ground, "owned", (0..RULES).rev()).await?;
    Ok(counted(answers.into_iter().map(|(code, _)| code.to_string())))
}

async fn rules_that_are_not_owned(ground: &Ground) -> Result<String> {
    let answers = granted(ground, "others", RULES..2 * RULES).await?;
    let shown = |(code, message): (u16, String)| format!("{code} with {} lines", message.lines().count());
    Ok(counted(answers.into_iter().map(shown)))
}

async fn own_rules(ground: &Ground) -> Result<String> {
    let name = |number: usize| format!("own-{number}");
    for number in 0..4 {
        ground.must("POST", ROLES, &role(ground, &name(number), 0..RULES)).await?;
        let mut binding = binding(ground, &name(number), &named(ground, &name(number)), 2, "nobody");
        binding["subjects"] = json!([subject("User", "alice")]);
        ground.must("POST", BINDINGS, &binding).await?;
    }
    let asked = json!({"spec": {"namespace": "default"}});
    let answers = try_join_all((0..CLIENTS).map(|_| ground.ask("POST", OWN_RULES, &asked))).await?;
    ground.vigil.rounds(3).await;
    deleted(ground, BINDINGS, (0..4).map(name)).await?;
    deleted(ground, ROLES, (0..4).map(name)).await?;
    let rules = |(code, body): &(u16, Value)| {
        let about = body["status"]["resourceRules"].as_array().into_iter().flatten();
        format!("{code} with {} rules", about.filter(|rule| rule["resourceNames"].is_array()).count())
    };
    Ok(counted(answers.iter().map(rules)))
}

async fn many_impersonated_groups(ground: &Ground) -> Result<String> {
    let name = |number: usize| format!("acting-{number}");
    for number in 0..8 {
        let binding = binding(ground, &name(number), &named(ground, "none"), SUBJECTS, &format!("last-{number}"));
        ground.must("POST", BINDINGS, &binding).await?;
    }
    let token = ground.cluster().token(crate::credentials::ADMINISTRATOR).unwrap_or_default();
    let mut headers = vec![("authorization", format!("Bearer {token}")), ("impersonate-user", "somebody".to_owned())];
    headers.extend((0..200).map(|number| ("impersonate-group", format!("g-{number}"))));
    let path = ground.path("configmaps/victim");
    let ask = || ground.ask_with(&headers, "GET", &path, &Value::Null);
    let answers = try_join_all((0..CLIENTS).map(|_| ask())).await?;
    ground.vigil.rounds(3).await;
    deleted(ground, BINDINGS, (0..8).map(name)).await?;
    Ok(counted(answers.iter().map(|(code, _)| code.to_string())))
}

/// A role that gathers the rules of those with a label.
fn gathering(ground: &Ground, name: &str, label: &str) -> Value {
    let selectors = json!([{"matchLabels": {named(ground, "gather"): label}}]);
    json!({"metadata": {"name": named(ground, name)}, "aggregationRule": {"clusterRoleSelectors": selectors}, "rules": []})
}

/// A role with that label, and a rule about that name.
fn gathered(ground: &Ground, name: &str, label: &str, about: usize) -> Value {
    let mut role = role(ground, name, about..about + 1);
    role["metadata"]["labels"] = json!({named(ground, "gather"): label});
    role
}

/// Waits until a role has a rule about that name, and no other one.
async fn filled(ground: &Ground, name: &str, about: usize) -> Result<()> {
    let begin = Instant::now();
    loop {
        let role = ground.must("GET", &format!("{ROLES}/{}", named(ground, name)), &Value::Null).await?;
        let rules = role["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
        match rules {
            [rule] if rule["resourceNames"] == json!([format!("s-{about}")]) => return Ok(()),
            _ => ensure!(begin.elapsed() < ground.patience(FILLED), "{name} is not filled: {rules:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn aggregated_roles(ground: &Ground) -> Result<String> {
    let (gathers, has) = (|number: usize| format!("gathers-{number}"), |number: usize| format!("has-{number}"));
    for number in 0..300 {
        let label = number.to_string();
        ground.must("POST", ROLES, &gathering(ground, &gathers(number), &label)).await?;
        ground.must("POST", ROLES, &gathered(ground, &has(number), &label, number)).await?;
    }
    let path = format!("{ROLES}/{}", named(ground, &has(7)));
    for turn in 1000..1100 {
        ground.must("PUT", &path, &gathered(ground, &has(7), "7", turn)).await?;
    }
    filled(ground, &gathers(7), 1099).await?;
    // It leaves one role, and enters another one.
    ground.must("PUT", &path, &gathered(ground, &has(7), "none", 1099)).await?;
    ground.must("PUT", &format!("{ROLES}/{}", named(ground, &has(8))), &gathered(ground, &has(8), "7", 8)).await?;
    filled(ground, &gathers(7), 8).await?;
    ground.vigil.rounds(3).await;
    deleted(ground, ROLES, (0..300).flat_map(|number| [gathers(number), has(number)])).await?;
    Ok("filled".to_owned())
}

async fn a_chain_of_roles(ground: &Ground) -> Result<String> {
    let name = |number: usize| format!("chain-{number}");
    for number in 1..30 {
        let mut role = gathering(ground, &name(number), &format!("chain-{}", number - 1));
        role["metadata"]["labels"] = json!({named(ground, "gather"): name(number)});
        ground.must("POST", ROLES, &role).await?;
    }
    ground.must("POST", ROLES, &gathered(ground, &name(0), &name(0), 1)).await?;
    filled(ground, &name(29), 1).await?;
    ground
        .must("PUT", &format!("{ROLES}/{}", named(ground, &name(0))), &gathered(ground, &name(0), &name(0), 2))
        .await?;
    filled(ground, &name(29), 2).await?;
    deleted(ground, ROLES, (0..30).map(name)).await?;
    Ok("filled".to_owned())
}
