//! Texts and calculations, as upstream's package has them, and the cost of numbers beyond all bounds.

use crate::{MILLI, Quantity, printed};
use serde_json::Value;
use std::cmp::Ordering;

fn lines(file: &str) -> impl Iterator<Item = Value> {
    file.lines().map(|line| serde_json::from_str(line).expect("a line is a vector"))
}

fn read(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn texts_are_those_of_go() {
    for vector in lines(include_str!("../../../fixtures/schema/quantities.jsonl")) {
        let found = Quantity::parse(vector["input"].as_str().unwrap_or_default());
        match vector["output"].as_str() {
            Some(expected) => {
                assert_eq!(found.map(|found| found.text().into_owned()).as_deref(), Ok(expected), "{vector}")
            }
            None => assert_eq!(found.err(), vector["error"].as_str(), "{vector}"),
        }
    }
}

#[test]
fn calculations_are_those_of_go() {
    for vector in lines(include_str!("../../../fixtures/schema/amounts.jsonl")) {
        let [one, other] = ["one", "other"].map(|field| read(vector[field].as_str().expect("a text")));
        assert_eq!(Value::from(one.cmp(&other) as i64), vector["cmp"], "{vector}");
        let [mut sum, mut difference] = [one.clone(), one.clone()];
        sum.add(&other);
        difference.subtract(&other);
        let all = [("sum", sum), ("difference", difference), ("rounded", one.rounded_up(MILLI))];
        for (name, found) in all {
            let expected = &vector[name];
            assert_eq!(&*found.text(), expected["text"], "{name} {vector}");
            assert_eq!(found.value(), expected["value"], "{name} {vector}");
            assert_eq!(found.milli_value(), expected["milli"], "{name} {vector}");
            assert_eq!(found.as_int64(), expected["int64"].as_i64(), "{name} {vector}");
            // The bits of zero have a sign, which means nothing.
            let float = found.as_approximate_float64() + 0.0;
            assert_eq!(format!("{:x}", float.to_bits()), expected["float"], "{name} {vector}");
        }
    }
}

#[test]
fn exact_texts_lose_nothing() {
    for vector in lines(include_str!("../../../fixtures/schema/quantities.jsonl")) {
        let Ok(quantity) = Quantity::parse(vector["input"].as_str().unwrap_or_default()) else { continue };
        let (exact, text) = (quantity.exact_text(), quantity.text());
        assert_eq!(read(&exact), quantity, "{vector}");
        assert_eq!(printed(&exact).as_deref().unwrap_or(&exact), text, "{vector}");
    }
    let thousand_exa = "1000000000000000000000";
    for (text, exact, shown) in [
        ("1000E", "1000E", "1"),
        ("-12000E", "-12000E", "-12"),
        ("100E", "100E", "100E"),
        ("1000000T", "1E", "1E"),
        ("1000E+2147483647", "10000e2147483646", "10000e2147483646"),
        // Upstream reads it as another kind of number, which overflows in another way.
        (thousand_exa, thousand_exa, "1"),
    ] {
        let quantity = read(text);
        assert_eq!((&*quantity.exact_text(), &*quantity.text()), (exact, shown));
        assert_eq!(read(&quantity.exact_text()).value(), quantity.value(), "{text}");
    }
}

#[test]
fn numbers_beyond_all_bounds_cost_as_much_as_their_texts() {
    let [huge, tiny, one] = ["1e2147483647", "1n", "1"].map(read);
    let long = read(&"9".repeat(3_000_000));
    assert!(
        huge > long && long > one && one > tiny && read("-1e2147483647") < read(&"-9".replace('9', &"9".repeat(99)))
    );
    for small in [&tiny, &one, &long] {
        let mut sum = huge.clone();
        sum.add(small);
        // However much larger the one is, the sum is more.
        assert!(sum > huge, "{}", small.text().len());
        sum.subtract(&huge);
        assert!(sum.sign().is_gt() && sum < huge);
        assert!(sum.text().len() < 3_100_000);
    }
    let mut binary = read("1Gi");
    binary.add(&read("9999999999999999999e2147483000"));
    assert!(binary.text().len() < 20_000);
    for text in ["1e-2147483648", "1e-2147483647", "9999999999999999999e-2147483648", "0.00000000000000000001e-9"] {
        assert_eq!(read(text), tiny, "{text}");
    }
    let tenths = format!("0.{}1Gi", "0".repeat(3_000_000));
    assert_eq!(read(&tenths), tiny);
    assert_eq!(read(&format!("{}Gi", "9".repeat(3_000_000))), read("9223372036854775807"));
    assert_eq!(read("0e2147483647").sign(), Ordering::Equal);
}

#[test]
fn short_numbers_are_printed_as_big_ones() {
    use crate::print::{canonical, canonical_short};
    use crate::short::Short;
    use crate::suffix::Format::{BinarySi, DecimalExponent, DecimalSi};
    let values = [0, 1, 7, 10, 999, 1000, 1023, 1024, 1536, 2048, 2_048_000, 1 << 40, 123_456_789, i64::MAX, i64::MIN];
    for value in values.into_iter().flat_map(|value: i64| [value, value.wrapping_neg()]) {
        for power in [-9, -7, -3, -1, 0, 1, 2, 3, 6, 15, 18, 19, 40] {
            for format in [BinarySi, DecimalExponent, DecimalSi] {
                let short = Short { value, power };
                assert_eq!(canonical_short(short, format), canonical(&short.big(), format), "{short:?} {format:?}");
            }
        }
    }
}
