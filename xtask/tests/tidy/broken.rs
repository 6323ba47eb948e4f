//! Tests of the scanner, with small crates that break the rules in every way, and others that only seem to.

use crate::tree::Tree;
use crate::{dependencies, is_id};

/// A crate of two rooms, `low` and `high`, with `text` in a file of the former.
fn tree(text: &str) -> Tree {
    Tree::of(&[
        ("lib.rs", "//! Root.\nmod between;\nmod high;\nmod low;\npub use high::deep::Thing;\npub use low::Plain;\n"),
        ("high/mod.rs", "//! High.\npub(crate) mod deep;\npub use deep::Thing;\npub(crate) struct Own;\n"),
        ("high/deep.rs", "//! Deep.\npub struct Thing;\n"),
        (
            "between.rs",
            "//! Between.\nuse crate::high::Own;\npub struct Carrier(Own);\npub use crate::low::Plain as Renamed;\n",
        ),
        ("low/mod.rs", "//! Low.\nmod file;\n#[cfg(test)]\nmod tests;\npub struct Plain;\n"),
        ("low/tests.rs", "//! Tests.\nuse crate::high::Own;\n"),
        ("low/file.rs", text),
    ])
}

#[test]
fn imports_are_seen_however_they_are_written() {
    for (text, expected) in [
        ("use crate::high::Own;", "low::file → high"),
        ("use crate::high::deep::Thing;", "low::file → high::deep"),
        ("use crate::{low::Plain, high::deep::{self as renamed}};", "low::file → high::deep"),
        ("use crate::high::{\n    deep::Thing,\n};", "low::file → high::deep"),
        ("use super::super::high::Own;", "low::file → high"),
        ("pub(crate) use crate::high::*;", "low::file → high"),
        ("fn f(own: crate::high::Own) {}", "low::file → high"),
        ("mod inside { use super::super::super::high::Own; }", "low::file::inside → high"),
        // A re-exported name leads to the item's module.
        ("use crate::Thing;", "low::file → high::deep"),
        ("use crate::high as renamed; fn f(_: renamed::deep::Thing) {}", "low::file → high, low::file → high::deep"),
        // Through a third module.
        ("use crate::between::Carrier;", "low::file → between → high"),
        ("const A: &str = r#\"\"#; const B: char = '\"'; use crate::high::Own;", "low::file → high"),
    ] {
        assert_eq!(tree(text).chains(&["low"], |place| !place.starts_with("high")).join(", "), expected, "{text}");
    }
}

#[test]
fn what_only_looks_like_an_import_is_none() {
    for text in [
        "// use crate::high::Own;",
        "/* use /* crate:: */ crate::high::Own; */",
        "const A: &str = \"use crate::high::Own; \\\" crate::high::Own\";",
        "const A: &str = r#\"\" crate::high::Own\"#;",
        "#[cfg(test)]\nmod tests {\n    use crate::high::Own;\n    fn f() { loop {} }\n}\nuse crate::low::Plain;",
        "#[cfg(test)]\nuse crate::high::Own;",
        "use high::Own;",
        "fn f<'crate_>(high: &'crate_ str) { high.own() }",
        "use crate::Plain;",
        "use crate::between::Renamed;",
    ] {
        assert_eq!(tree(text).chains(&["low"], |place| !place.starts_with("high")), [""; 0], "{text}");
    }
}

#[test]
fn a_room_may_import_itself_and_what_it_is_allowed() {
    let tree = tree("use super::Plain;\nuse crate::between::Carrier;");
    assert_eq!(tree.chains(&["low"], |_| false), ["low::file → between"]);
    assert_eq!(tree.chains(&["low"], |place| place == "between"), ["low::file → between → high"]);
    assert_eq!(tree.chains(&["low", "between", "high"], |_| false), [""; 0]);
}

#[test]
#[should_panic = "there is no room lower"]
fn a_room_that_is_not_there_is_told() {
    tree("").chains(&["lower"], |_| false);
}

#[test]
fn circles_of_rooms_are_seen() {
    assert_eq!(tree("use crate::high::Own;").circles(), [""; 0]);
    let circle = ["between ⇄ high", "high ⇄ low", "low ⇄ between"];
    let tree = Tree::of(&[
        ("lib.rs", "pub use low::Plain;"),
        ("low.rs", "use crate::between::Carrier; pub struct Plain;"),
        ("between.rs", "use crate::high::deep::Own; use crate::aside::Aside; pub struct Carrier;"),
        ("high/mod.rs", "mod deep;"),
        ("high/deep.rs", "use crate::Plain; pub struct Own;"),
        ("aside.rs", "pub struct Aside;"),
    ]);
    assert_eq!(tree.circles(), circle);
}

/// A crate of a parent, its children `one` and `two`, and a file beside them.
fn family(parent: &str, one: &str, two: &str) -> Tree {
    Tree::of(&[
        ("lib.rs", "mod family;\nmod aside;\npub use family::one::One;"),
        ("family/mod.rs", &format!("pub mod one;\nmod two;\nmod three;\npub struct Own;\n{parent}")),
        ("family/one.rs", &format!("pub struct One;\n{one}")),
        ("family/two.rs", &format!("pub struct Two;\npub fn two() {{}}\n{two}")),
        ("family/three.rs", "pub struct Three;"),
        ("aside.rs", "use crate::One; pub struct Aside;"),
    ])
}

#[test]
fn circles_of_files_are_seen() {
    let siblings = ["family::one → family::two: Two", "family::two → family::one: One"];
    let parent_and_child = ["family → family::one: One", "family::one → family: Own"];
    for (parent, one, two, expected) in [
        ("", "use super::two::Two;", "use super::one::One;", &siblings[..]),
        // Through re-exports, in the parent or at the root.
        ("pub use one::One; pub use two::Two;", "use super::Two;", "use crate::One;", &siblings),
        ("use two::Two as Renamed;", "use super::Renamed;", "use crate::One;", &siblings),
        // By a path, through the imported name of a module.
        ("", "use super::two; fn f(_: two::Two) {}", "mod inner { fn f(_: super::super::one::One) {} }", &siblings),
        ("use one::One;", "use super::Own;", "", &parent_and_child),
        ("fn f(_: one::One) {}", "use super::*;", "", &["family → family::one: One", "family::one → family: *"]),
        // What the parent hands on and uses itself.
        ("pub use one::One; fn f(_: One) {}", "use super::Own;", "", &parent_and_child),
        (
            "pub(crate) use one::{One, one}; impl One {}",
            "use crate::aside::Aside;",
            "",
            &["aside → family::one: One", "family::one → aside: Aside"],
        ),
    ] {
        assert_eq!(family(parent, one, two).circles_of_files(), expected, "{parent} | {one} | {two}");
    }
}

#[test]
fn what_is_no_circle_of_files_is_none() {
    for (parent, one, two) in [
        ("use one::One;", "use super::two::Two;", "use super::three::Three;"),
        // A parent may hand on what its children have, of which it uses nothing.
        ("pub use one::One; pub(crate) use two::{Two, two};", "use super::Own; use super::Two;", "use super::Own;"),
        ("pub use one::*;", "use super::Own;", ""),
        // A name that leads through the parent is not the parent's.
        ("use one::One; pub use three::Three;", "use super::Three; use crate::family; fn f(_: family::Three) {}", ""),
        ("use one::One;", "use super::three; fn f(_: three::Three) {}", ""),
        // The name of a module in `mod` is no use of what is handed on under the same name.
        ("pub use two::two;", "", "use super::Own;"),
        ("use one::One;", "#[cfg(test)]\nmod tests { use super::super::Own; }", ""),
        // Another crate that is called as a module is here.
        ("use ::one::One;", "use super::Own;", ""),
        ("use one::One;", "pub(in crate::family) struct Inner; mod inner { use super::Inner; }", ""),
    ] {
        assert_eq!(family(parent, one, two).circles_of_files(), [""; 0], "{parent} | {one} | {two}");
    }
}

#[test]
fn words_texts_and_statics_are_seen() {
    let tree = tree(
        "use http::StatusCode;\nstatic STATE: Mutex<u8> = Mutex::new(0);\nstatic WORD: &'static str = \"v1.37\";\n\
         fn f(text: &'static str) { jiff::Timestamp::now(); }\n// SystemTime::now()",
    );
    let low = |place: &str| place.starts_with("low");
    assert_eq!(tree.using(&["StatusCode"], low), ["low::file: StatusCode"]);
    assert_eq!(tree.using(&["SystemTime::now", "Timestamp::now"], low), ["low::file: Timestamp::now"]);
    assert_eq!(tree.using(&["StatusCode"], |place| !low(place)), [""; 0]);
    assert_eq!(tree.saying("1.37", low), ["low::file: \"v1.37\""]);
    assert_eq!(tree.with_statics(&["Mutex", "Atomic"], &[]), ["low::file: Mutex"]);
    assert_eq!(tree.with_statics(&["Atomic"], &[]), [""; 0]);
    assert_eq!(tree.with_statics(&["Mutex"], &["low::file"]), [""; 0]);
}

#[test]
fn kinds_are_seen_by_their_ids_and_as_literals() {
    let is_name = |text: &str| text == "\"pods\"" || is_id(text);
    for (text, expected) in [
        ("use crate::registry::ids; fn f() { g(ids::CONFIG_MAPS) }", "low::file: ids::CONFIG_MAPS"),
        ("fn f() -> bool { resource == \"pods\" }", "low::file: \"pods\""),
        ("use crate::ids::Ids; const A: &str = \"mutatepods\"; // \"pods\"", ""),
    ] {
        assert_eq!(tree(text).naming(is_name, |place| place.starts_with("low")).join(", "), expected, "{text}");
    }
}

#[test]
fn dependencies_are_read_without_those_of_tests() {
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\nb.workspace = true\nc = { version = \"1\" }\n\
        [dev-dependencies]\nd = \"1\"\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\n[build-dependencies]\nf = \"1\"\n";
    assert_eq!(dependencies(manifest), ["b", "c", "e", "f"]);
}
