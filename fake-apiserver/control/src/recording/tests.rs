//! Recordings that are whole, cut short, or not there.

use super::*;

const HEADER: &str =
    r#"{"fakeApiserverRecording":1,"kubernetes":"v1.37.1","started":"2030-01-01T00:00:00Z","replicas":1}"#;

/// A line at a second, with a revision.
fn line(second: u64, revision: u64, what: &str) -> String {
    format!(r#"{{"at":{},"time":"2030-01-01T00:00:0{second}Z","revision":{revision},{what}}}"#, second * 1_000_000)
}

fn stored(kind: &str, name: &str, revision: u64) -> String {
    format!(
        r#""{kind}":{{"resource":"pods.","path":"default/{name}","revision":{revision},"kept":{{}}}},"object":{{"name": "{name}"}}"#
    )
}

fn removed(name: &str, revision: u64) -> String {
    format!(r#""change":{{"type":"DELETED","resource":"pods.","path":"default/{name}","revision":{revision}}}"#)
}

fn request(cursor: u64, verb: &str) -> String {
    format!(
        r#""request":{{"cursor":{cursor},"replica":0,"received":"2030-01-01T00:00:00Z","user":"u","userAgent":"a","method":"GET","uri":"/api","verb":"{verb}","apiGroup":"","version":"v1","resource":"pods","subresource":"","namespace":"","name":"","code":200}}"#
    )
}

fn run() -> Vec<String> {
    vec![
        HEADER.to_owned(),
        line(0, 5, r#""base":{"objects":1}"#),
        line(0, 5, &stored("present", "a", 3)),
        line(1, 5, &request(1, "watch")),
        line(2, 6, &stored("change", "b", 6)),
        line(3, 6, r#""faultAdded":{"id":"f1","rule":{"name":"slow"}}"#),
        line(3, 6, r#""order":{"order":"replica","replica":0,"view":"held"}"#),
        line(4, 7, &request(2, "delete")),
        line(4, 7, &removed("a", 7)),
        line(5, 7, r#""order":{"order":"compact","revision":6}"#),
        line(6, 8, &stored("change", "c", 8)),
        line(7, 8, r#""watchEnded":{"request":1,"events":3,"sent":[[2000000,"ADDED"]]}"#),
        line(8, 8, r#""ended":{}"#),
    ]
}

fn read(lines: &[String]) -> Recording {
    Recording::read((lines.join("\n") + "\n").as_bytes()).expect("a recording")
}

fn names(kept: &[Kept]) -> Vec<String> {
    let name = |kept: &Kept| match &kept.object {
        Some(_) => format!("{} {}", kept.revision, kept.path),
        None => format!("{} no {}", kept.revision, kept.path),
    };
    kept.iter().map(name).collect()
}

#[test]
fn a_moment_has_the_objects_of_its_revision() {
    let recording = read(&run());
    assert_eq!(recording.cut, None);
    let moment = recording.moment("2".parse().expect("a cursor")).expect("a moment");
    assert_eq!((moment.revision, moment.compacted, moment.time.to_string().as_str()), (7, 5, "2030-01-01T00:00:04Z"));
    assert_eq!(
        (names(&moment.objects), names(&moment.changes)),
        (vec!["3 default/a".into()], vec!["6 default/b".into(), "7 no default/a".into()])
    );
    assert_eq!(
        moment.objects[0].object.as_deref().map(|object| object.get()),
        Some(r#"{"name": "a"}"#),
        "it is as it was written"
    );
    assert_eq!(moment.lost, ["1 fault rule, added before: slow", "1 open watch", "the cache of replica 0 was held"]);
    let end = recording.moment(At::End).expect("a moment");
    assert_eq!((end.compacted, names(&end.objects)), (6, vec!["3 default/a".into(), "6 default/b".into()]));
    assert_eq!(names(&end.changes), ["7 no default/a", "8 default/c"]);
    let by_time = recording.moment("2030-01-01T00:00:02.5Z".parse().expect("a time")).expect("a moment");
    assert_eq!((by_time.revision, names(&by_time.changes)), (6, vec!["6 default/b".into()]));
    assert_eq!(recording.moment("revision=6".parse().expect("a revision")).expect("a moment").revision, 6);
}

#[test]
fn a_revision_that_was_taken_twice_has_two_moments() {
    let mut lines = run();
    lines.pop();
    lines.extend([
        line(8, 6, r#""base":{"objects":1}"#),
        line(8, 6, &stored("present", "a", 3)),
        line(9, 7, &stored("change", "d", 7)),
        line(9, 7, &request(3, "create")),
    ]);
    let recording = read(&lines);
    let moment = |at: &str| recording.moment(at.parse().expect("a place")).expect("a moment");
    let before = moment("2");
    assert_eq!((before.revision, names(&before.changes)), (7, vec!["6 default/b".into(), "7 no default/a".into()]));
    for after in ["3", "revision=7", "end"] {
        let after = moment(after);
        assert_eq!((after.revision, names(&after.objects)), (7, vec!["3 default/a".into()]));
        assert_eq!(names(&after.changes), ["7 default/d"]);
    }
}

#[test]
fn what_is_not_there_is_said() {
    let recording = read(&run());
    for (at, expected) in [
        ("9", "there is no request 9 in the recording"),
        ("revision=9", "revision 9 is not in the recording: its newest is 8"),
        ("revision=4", "revision 4 is before the recording: it begins with 5"),
        ("2029-12-31T00:00:00Z", "2029-12-31T00:00:00Z is before the recording: it begins at 2030-01-01T00:00:00Z"),
    ] {
        assert_eq!(at.parse().and_then(|at| recording.moment(at)).expect_err("not there"), expected);
    }
    assert!("r9".parse::<At>().expect_err("no place").contains("revision=N"));
    let mut lines = run();
    lines.insert(8, line(4, 9, r#""missed":{"lines":2,"revisions":[7,8]}"#));
    lines.insert(9, line(4, 9, r#""base":{"objects":0}"#));
    let gap = read(&lines);
    assert_eq!(gap.moment(At::Revision(7)).expect_err("a gap"), "the changes of revisions 7 to 8 were not recorded");
}

#[test]
fn a_file_that_is_cut_short_is_read_up_to_there() {
    let text = run().join("\n");
    let whole = read(&run()).lines.len();
    for end in HEADER.len() + 1..text.len() {
        let recording = Recording::read(&text.as_bytes()[..end]).expect("the first line is whole");
        assert!(recording.lines.len() < whole);
        assert!(recording.cut.is_some(), "{end}");
    }
    let cut = Recording::read(&text.as_bytes()[..text.len() - 40]).expect("a recording");
    assert!(cut.cut.expect("it says so").starts_with("line 13 is not whole"));
    for (text, expected) in [
        ("", "it is not a recording: EOF while parsing a value at line 1 column 0"),
        (&HEADER.replace(":1,", ":7,"), "the recording has the format 7, and this program reads 1"),
    ] {
        assert_eq!(Recording::read(text.as_bytes()).expect_err("none").to_string(), expected);
    }
}

/// A line of a cluster beside the first one.
fn of_cluster(name: &str, line: &str) -> String {
    line.replacen(r#""revision""#, &format!(r#""cluster":"{name}","revision""#), 1)
}

#[test]
fn a_cluster_begins_with_what_another_one_had() {
    let begun =
        |from: &str| if from.is_empty() { r#""begun":{}"#.into() } else { format!(r#""begun":{{"from":"{from}"}}"#) };
    let mut lines = run();
    lines.pop();
    lines.extend([
        // Begun before the line about the change that it begins with.
        of_cluster("one", &line(5, 6, &begun(""))),
        of_cluster("one", &line(6, 7, &stored("change", "own", 7))),
        of_cluster("two", &line(6, 7, &begun("one"))),
        of_cluster("one", &line(7, 8, &removed("b", 8))),
        of_cluster("two", &line(7, 8, &request(1, "create"))),
        of_cluster("two", &line(7, 8, &stored("change", "last", 8))),
    ]);
    let recording = read(&lines);
    let moment = |cluster, at: &str| recording.moment_of(cluster, at.parse().expect("a moment"));
    let end = moment(Some("two"), "end").expect("a moment");
    assert_eq!((end.revision, end.compacted), (8, 7));
    assert_eq!(names(&end.objects), ["3 default/a", "6 default/b", "7 default/own"]);
    assert_eq!(names(&end.changes), ["8 default/last"]);
    let one = moment(Some("one"), "end").expect("a moment");
    assert_eq!((names(&one.objects), names(&one.changes).len()), (vec!["3 default/a".into(), "6 default/b".into()], 2));
    assert_eq!(moment(Some("two"), "1").expect("a moment").revision, 8);
    assert_eq!(recording.requests_of(Some("two")).len(), 1);
    assert_eq!(
        moment(Some("on"), "end").expect_err("none"),
        "the beginning of a cluster \"on\" is not in the recording; did you mean \"one\"?"
    );
    assert_eq!(
        moment(Some("two"), "revision=6").expect_err("before"),
        "revision 6 is before the recording: it begins with 7"
    );
    // From itself, and from one that is not there: a file that nobody has written.
    let mut lines = run();
    lines.push(of_cluster("one", &line(5, 6, &begun("one"))));
    let circle = read(&lines).moment_of(Some("one"), At::End).expect_err("a circle");
    assert_eq!(circle, "the beginning of a cluster \"one\" is not in the recording");
}
