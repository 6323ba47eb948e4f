//! The verbs of the scenario language: an invalid command is refused with its line.

use crate::fixtures;
use conformance::play::Script;
use conformance_judge::scenario::Scenario;

#[test]
fn every_scenario_can_be_played() {
    for scenario in Scenario::load_all(&fixtures("scenarios")).unwrap() {
        let script = Script::parse(&scenario).unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        assert_eq!(script.commands().len(), scenario.steps.len(), "{}", scenario.name);
    }
}

#[test]
fn definitions_do_not_stay_on_the_server_that_all_scenarios_share() {
    for scenario in Scenario::load_all(&fixtures("scenarios")).unwrap() {
        let has = |verb, of: &str| {
            let mut commands = scenario.steps.iter().map(|step| &step.command);
            commands.any(|command| command.verb == verb && command.arguments.iter().any(|word| word.starts_with(of)))
        };
        let stays = has("define", "") && !has("delete", "customresourcedefinitions/");
        assert!(!stays || !scenario.flags.is_empty(), "{}: others would discover what it defines", scenario.name);
    }
}

#[test]
fn nonsense_is_refused_with_its_line() {
    for (command, error) in [
        (
            "create things/a",
            "line 3: no resource called \"things\" is recorded or named by a line `custom`; `request METHOD /path` \
             reaches any",
        ),
        ("explode configmaps/a", "line 3: \"explode\" is not a verb; `fixtures/README.md` lists them"),
        ("as: get configmaps/a", "line 3: \"as:\" is not a verb; `fixtures/README.md` lists them"),
        ("clock advance soon", "line 3: \"soon\" is not a number of seconds like \"-60s\""),
        ("compact now", "line 3: usage: compact"),
        (
            "sign token for serviceaccounts/a uid=$u as $t jti=x",
            "line 3: \"jti=x\" is none of nbf=60s, iat=60s, exp=60s",
        ),
        ("fault create secrets", "line 3: a fault needs one of status=N, preset=NAME, do=WORD"),
        ("get configmaps", "line 3: get needs RESOURCE/NAME"),
        ("as alice: clock advance 1s", "line 3: \"clock\" takes no prefixes"),
        ("until 200: repeat 2: get configmaps/a", "line 3: `until` is for single requests"),
        ("until 200: watch pods as w", "line 3: `until` is for single requests"),
    ] {
        let scenario = Scenario::parse("area/name", &format!("# Why.\n\n{command}\n")).unwrap();
        assert_eq!(Script::parse(&scenario).err().map(|error| error.to_string()).as_deref(), Some(error), "{command}");
    }
}
