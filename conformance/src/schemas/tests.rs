//! Tests of the generator's promises.

use super::generate::Generator;
use super::names::Names;
use super::side::Side;
use super::{Case, Verb};
use crate::subject::Embedded;
use std::collections::BTreeSet;

fn cases(seed: u64, count: usize) -> Vec<Case> {
    let mut generator = Generator::new(seed);
    (0..count).map(|_| generator.case(3)).collect()
}

#[test]
fn a_seed_always_makes_the_same_cases() {
    assert_eq!(cases(1, 50), cases(1, 50));
    assert_ne!(cases(1, 50), cases(2, 50));
}

#[test]
fn all_keywords_are_used() {
    let mut keywords = BTreeSet::new();
    for case in cases(3, 600).iter().filter(|case| !case.broken) {
        for text in case.schema.to_string().split('"') {
            keywords.insert(text.to_owned());
        }
        assert!(case.stories.iter().all(|story| story.before[0].verb == Verb::Create));
    }
    for keyword in [
        "additionalProperties",
        "allOf",
        "anyOf",
        "default",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "fieldPath",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "message",
        "messageExpression",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "nullable",
        "oneOf",
        "optionalOldSelf",
        "pattern",
        "properties",
        "reason",
        "required",
        "rule",
        "type",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ] {
        assert!(keywords.contains(keyword), "no schema has {keyword}");
    }
}

#[tokio::test]
async fn definitions_are_valid_unless_they_were_broken() {
    let side = Side::start(&Embedded).await.expect("the server starts");
    let mut refused = String::new();
    for (number, case) in cases(5, 300).into_iter().enumerate().filter(|(_, case)| !case.broken) {
        let names = Names::numbered(number as u64);
        let answer = side.define(&names.define(&case), "").await.expect("an answer");
        if answer.status != 201 {
            refused += &format!("{}\n{}\n\n", answer.message(), case.schema);
        }
        side.undefine(&names).await.expect("it is deleted");
    }
    assert!(refused.is_empty(), "{refused}");
    side.stop().await.expect("the server stops");
}
