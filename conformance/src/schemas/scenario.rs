//! A case in the language of scenarios, as far as the servers agree, and the differences after that.

use super::case::{Case, Verb};
use super::names::{AFTER, Names};
use super::trial::{Sent, Trial};
use serde_json::Value;

/// The text of a scenario up to the first difference, and the difference.
pub(super) fn text(case: &Case, trial: &Trial) -> String {
    let names = Names::of_scenario();
    let mut text = format!(
        "# A case in which the servers differ.\n\napiserver --request-timeout=1m0s\n\ncustom {} {} {}\n",
        names.plural(),
        names.api_version(),
        names.kind()
    );
    let mut revisions = 0;
    for exchange in &trial.exchanges {
        let status = exchange.real.status;
        let observed = match status {
            200 | 201 => {
                let is_object = matches!(exchange.sent, Sent::Act(..));
                revisions += usize::from(is_object);
                if is_object { format!("{status} rv=$r{revisions}") } else { status.to_string() }
            }
            _ => status.to_string(),
        };
        text += &command(case, &names, &exchange.sent, revisions - usize::from(observed.contains("rv=")));
        text += &format!("----\n{observed}\n");
        let differences = exchange.differences();
        if !differences.is_empty() {
            text += "\n# Here they differ:\n";
            for difference in differences {
                text += &format!("{difference}\n");
            }
            break;
        }
        match exchange.sent {
            Sent::Define if status < 300 => text += &format!("\nuntil 200: list {}\n", names.plural()),
            Sent::Redefine if status < 300 => {
                text += &format!(
                    "\nuntil columnDefinitions[1].name={AFTER}: list {}\n  Accept: application/json;as=Table;v=v1;g=meta.k8s.io\n",
                    names.plural()
                );
            }
            _ => {}
        }
    }
    text
}

/// The command that sends it; `revisions` are the revisions that were seen.
fn command(case: &Case, names: &Names, sent: &Sent, revisions: usize) -> String {
    let query = |validation: Option<&str>| validation.map_or_else(String::new, |of| format!(" ?fieldValidation={of}"));
    // A dollar sign would be a name.
    let literal = |body: &Value| body.to_string().replace('$', "$$");
    match sent {
        Sent::Define => {
            let body = literal(&names.define(case)).replace("$$namespace", "$namespace");
            format!("\ncreate customresourcedefinitions{}\n  {body}\n", query(case.validation))
        }
        Sent::Redefine => {
            let body = names.redefine(case, case.then.as_ref().unwrap_or(&Value::Null));
            format!("\npatch merge customresourcedefinitions/{}\n  {}\n", names.full(), literal(&body))
        }
        Sent::Act(number, action) => {
            let verb = match action.verb {
                Verb::Create => "create",
                Verb::Get => "get",
                Verb::Update | Verb::UpdateStatus => "update",
                Verb::Patch => "patch merge",
            };
            let name = format!("o{number}");
            let part = if action.verb == Verb::UpdateStatus { "/status" } else { "" };
            let revision = "\u{0}revision";
            let body = names.body(&name, action, revision.into());
            let body = if body.is_null() {
                String::new()
            } else {
                let body = literal(&body).replace("$$namespace", "$namespace");
                format!("  {}\n", body.replace("\\u0000revision", &format!("$r{revisions}")))
            };
            format!("\n{verb} {}/{name}{part}{}\n{body}", names.plural(), query(action.validation))
        }
    }
}
