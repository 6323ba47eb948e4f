//! Short texts: selectors, paths, queries, names, continue tokens, durations, times and quantities.

use fake_apiserver::fuzzing::{self, ContinueToken, FieldSelector, LabelSelector, SelectableField};
use quantity::Quantity;
use std::str::from_utf8;

/// A printed selector parses to the same selector.
pub(crate) fn label_selector(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let Ok(selector) = LabelSelector::parse(text) else { return };
    let printed = selector.to_string();
    let again = LabelSelector::parse(&printed).expect("a printed selector can be read");
    assert_eq!(selector, again, "{printed:?}");
    for labels in [&[][..], &[("a", "b")], &[("a", "1"), ("b", ""), ("x/y", "z")]] {
        let matches = |selector: &LabelSelector| selector.matches(labels.iter().copied());
        assert_eq!(matches(&selector), matches(&again));
        assert!(!selector.is_empty() || matches(&selector), "no requirement refuses nothing");
    }
}

/// The same for field selectors, of a kind without fields of its own and of one with some.
pub(crate) fn field_selector(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let own = ["metadata.name", "metadata.namespace", "spec.nodeName", "a"]
        .map(|label| SelectableField { label: label.into(), stored_as: label.into() });
    for selectable in [&[][..], &own] {
        let Ok(selector) = FieldSelector::parse(text, selectable) else { continue };
        let printed = selector.to_string();
        let again = FieldSelector::parse(&printed, selectable).expect("a printed selector can be read");
        let sorted = |selector: &FieldSelector| {
            let text = selector.to_string();
            let mut terms: Vec<String> = text.split(',').map(str::to_owned).collect();
            terms.sort();
            terms
        };
        assert_eq!(sorted(&selector), sorted(&again));
        for value in ["", "a", "b,c", "=\\"] {
            assert_eq!(selector.matches(|_| value), again.matches(|_| value));
        }
        for field in &own {
            let exact = selector.exact(&field.label);
            assert!(exact.is_none() == again.exact(&field.label).is_none());
        }
    }
}

/// A path made from the elements of a path has the same elements.
pub(crate) fn path(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let Some(found) = fuzzing::resource_path(text) else { return };
    if found.overlong {
        return;
    }
    let [group, version, namespace, resource, name, subresource] = &found.elements;
    // Invalid UTF-8 is replaced, and empty elements are ignored: only paths with neither can be compared.
    if text.contains('%') || text.trim_matches('/').contains("//") {
        return;
    }
    let prefix =
        if text.trim_start_matches('/').starts_with("apis") { format!("/apis/{group}") } else { "/api".into() };
    let mut made = format!("{prefix}/{version}");
    if found.watch_prefix {
        made += "/watch";
    }
    if !namespace.is_empty() {
        made += &format!("/namespaces/{namespace}");
    }
    for part in [resource, name, subresource] {
        if !part.is_empty() {
            made += &format!("/{part}");
        }
    }
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(parts(&made), parts(text), "{found:?}");
}

/// Parsing a query is deterministic, and an empty pair changes no option.
pub(crate) fn query(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let show = |text: &str| {
        fuzzing::query_options(text).map(|options| options.unwrap_or_else(|error| format!("{} {error}", error.code())))
    };
    let options = show(text);
    assert_eq!(options, show(&format!("&{text}&&")));
    assert!(options.iter().all(|text| !text.starts_with('5')), "{options:?}");
}

/// A name that satisfies a narrow rule satisfies the wider ones.
pub(crate) fn name(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let objections = fuzzing::name_objections(text);
    let good = |rule: &str| objections[rule].is_empty();
    let implies = |narrow: &str, wide: &str| assert!(!good(narrow) || good(wide), "{text:?}: {narrow} but not {wide}");
    implies("dns_label", "dns_subdomain");
    implies("dns_label", "label_value");
    implies("dns_subdomain", "dns_subdomain_with_underscores");
    implies("dns_subdomain", "path_segment");
    implies("dns_subdomain_with_underscores", "path_segment");
    implies("data_key", "path_segment");
    assert!(!good("label_value") || text.is_empty() || good("label_key"), "{text:?}");
    assert!(!good("label_key") || text.split('/').count() <= 2);
    assert!(!good("dns_label") || (text.len() <= 63 && !text.contains('.')));
    for rule in ["dns_label", "dns_subdomain", "label_key", "label_value", "data_key"] {
        assert!(!good(rule) || text.is_ascii(), "{text:?} is good for {rule}");
    }
}

/// An encoded token decodes to the same token, and never leads out of the listed scope.
pub(crate) fn continue_token(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    // The inner JSON is fuzzed, too.
    let wrapped = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, text);
    for text in [text, &wrapped] {
        let Ok(token) = ContinueToken::decode(text) else { continue };
        let again = ContinueToken::decode(&token.encode()).expect("a written token can be read");
        assert_eq!(token.place(), again.place());
        assert!(!token.place().1.split('/').any(|part| part == ".."));
        assert_ne!(token.place().0, 0);
    }
}

/// A duration parses the same in nanoseconds, and with a sign.
pub(crate) fn duration(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let Ok(duration) = fuzzing::parse_duration(text) else { return };
    let nanoseconds = duration.as_nanos();
    assert!(nanoseconds <= i64::MAX as u128);
    assert_eq!(fuzzing::parse_duration(&format!("{nanoseconds}ns")), Ok(duration), "{text:?}");
    if !text.starts_with(['+', '-']) {
        assert_eq!(fuzzing::parse_duration(&format!("+{text}")), Ok(duration), "{text:?}");
    }
}

/// The canonical form of a time is canonical.
pub(crate) fn time(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    for micros in [false, true] {
        let Ok(Some(time)) = fuzzing::canonical_time(text, micros) else { continue };
        // Go formats years before 0 and after 9999, but does not parse them; and a time less than a second after its zero
        // time is formatted as if it were zero.
        if time.find('-') != Some(4) || time == "0001-01-01T00:00:00Z" {
            continue;
        }
        assert_eq!(fuzzing::canonical_time(&time, micros), Ok(Some(time.clone())), "{text:?}");
        // The library's last day is the day before the last one of that year.
        if time.starts_with("9999-12-3") {
            continue;
        }
        let parsed: jiff::Timestamp = time.parse().unwrap_or_else(|error| panic!("{time} of {text:?}: {error}"));
        let printed = if micros { format!("{parsed:.6}") } else { format!("{parsed:.0}") };
        assert_eq!(printed, time, "{text:?}");
    }
}

/// The canonical form of a quantity is canonical; that of a fraction of a binary unit may be digits alone, which read anew get a suffix,
/// as Go has it.
pub(crate) fn quantity(input: &[u8]) {
    let Ok(text) = from_utf8(input) else { return };
    let Ok(quantity) = Quantity::parse(text) else { return };
    let read = |text: &str| Quantity::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let canonical = quantity.text();
    let once = read(&canonical);
    let again = once.text();
    assert!(again == canonical || text.ends_with('i') && canonical.ends_with("000"), "{text:?}: {canonical}, {again}");
    assert_eq!(read(&again).text(), again, "{text:?}");
    assert!(canonical.len() <= text.len() + 32, "{text:?} became {canonical:?}");
    for other in ["1", "-1n", "9223372036854775807", "1Ei", "1e400", "-1e2147483647"].map(read) {
        let mut sum = quantity.clone();
        sum.add(&other);
        assert_eq!(sum.cmp(&quantity), other.sign(), "{text:?} + {other}");
        assert!(sum.text().len() <= text.len() + 20_064, "{text:?} + {other}");
        let mut difference = quantity.clone();
        difference.subtract(&other);
        assert_eq!(quantity.cmp(&difference), other.sign(), "{text:?} - {other}");
        for amount in [&quantity, &sum, &difference] {
            let _ = (amount.value(), amount.milli_value(), amount.as_int64(), amount.as_approximate_float64());
            assert!(amount.clone().rounded_up(0).sign() == amount.sign(), "{text:?}: {amount}");
        }
    }
}
