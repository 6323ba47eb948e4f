//! The files that a writer leaves on disk: the rows of upstream's `atomic_writer_test.go`, and more.

use crate::killed_writer::{NOW, content, payload, write};
use kubelet::volumes::atomic_writer::AtomicWriter;
use kubelet::volumes::payload::{FileProjection, Payload};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

/// The `(content, mode)` of files by path, read through the visible links.
fn visible(volume: &Path) -> BTreeMap<String, (Vec<u8>, u32)> {
    let mut found = BTreeMap::new();
    let mut left = vec![String::new()];
    while let Some(within) = left.pop() {
        for entry in fs::read_dir(volume.join(&within)).expect("a directory") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a name");
            if within.is_empty() && name.starts_with("..") {
                continue;
            }
            let path = if within.is_empty() { name } else { format!("{within}/{name}") };
            let metadata = fs::metadata(entry.path()).expect("no link dangles");
            if metadata.is_dir() {
                left.push(path);
            } else {
                let content = fs::read(entry.path()).expect("a file");
                found.insert(path, (content, metadata.permissions().mode() & 0o7777));
            }
        }
    }
    found
}

fn files(rows: &[(&str, &str, u32)]) -> Payload {
    let file = |data: &str, mode| FileProjection { data: data.into(), mode, owner: None };
    rows.iter().map(|(path, data, mode)| (path.to_string(), file(data, *mode))).collect()
}

/// Writes, and checks that the volume consists of exactly these files.
fn write_and_check(volume: &Path, rows: &[(&str, &str, u32)]) {
    write(volume, &files(rows)).expect("written");
    let clean = |path: &str| path.split('/').filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/");
    let expected = rows.iter().map(|(path, data, mode)| (clean(path), (data.as_bytes().to_vec(), *mode)));
    assert_eq!(visible(volume), expected.collect(), "{rows:?}");
    check_own_names(volume);
}

/// Checks that two names begin with `..`: the link and its target.
fn check_own_names(volume: &Path) {
    let data = fs::read_link(volume.join("..data")).expect("a link");
    let entries = fs::read_dir(volume).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    let mut own: Vec<_> = entries.filter(|name| name.to_string_lossy().starts_with("..")).collect();
    own.sort();
    let mut expected = vec!["..data".into(), data.into_os_string()];
    expected.sort();
    assert_eq!(own, expected);
}

// TestNewAtomicWriter.
#[test]
fn a_writer_needs_a_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    assert!(AtomicWriter::new(directory.path()).is_ok());
    let error = AtomicWriter::new(directory.path().join("absent")).expect_err("there is none").to_string();
    assert!(error.starts_with("stat ") && error.ends_with("No such file or directory (os error 2)"), "{error}");
}

// TestWriteOnce.
#[test]
fn files_are_written_with_their_modes() {
    let binary = "\u{7f}ELF\u{2}\u{1}\0\0\u{b0}";
    for rows in [
        &[("foo", "foo", 0o644), ("bar", "bar", 0o644)][..],
        &[("binary.bin", binary, 0o644), (".binary.bin", binary, 0o644)],
        &[("foo", "foo", 0o777), ("bar", "bar", 0o400)],
        &[("foo", "foo", 0o407), ("bar", "bar", 0o440), (".dotfile", "d", 0o777), (".dotfile.file", "f", 0o666)],
        &[("foo/bar.txt", "foo/bar", 0o400), ("bar/zab.txt", "bar/zab.txt", 0o644)],
        &[("foo//bar.txt", "foo//bar", 0o644), ("bar///bar/zab.txt", "zab", 0o644)],
        &[("foo/bar.txt", "1", 0o644), ("foo/blaz/bar.txt", "2", 0o644), ("bar/zib/zab.txt", "3", 0o644)],
        &[
            ("foo.log", "foo", 0o644),
            (".dotfile", "dotfile", 0o644),
            ("bar/zib/zab.txt", "bar/zib/zab.txt", 0o400),
            ("1/2/3/4/5/6/7/8/9/10/.dotfile.lib", "1-2-3-dotfile", 0o777),
        ],
        &[],
    ] {
        let volume = tempfile::tempdir().expect("a directory");
        write_and_check(volume.path(), rows);
    }
}

#[test]
fn an_invalid_path_leaves_no_trace() {
    for bad in ["..bar", "foo/../bar", "/etc/passwd", ""] {
        let volume = tempfile::tempdir().expect("a directory");
        let error = write(volume.path(), &files(&[("foo", "foo", 0o644), (bad, "x", 0o644)])).expect_err(bad);
        assert!(error.to_string().starts_with("invalid path: "), "{error}");
        assert_eq!(fs::read_dir(volume.path()).expect("a directory").count(), 0, "{bad}");
    }
}

// TestUpdate, TestMultipleUpdates.
#[test]
fn what_people_see_is_the_last_payload() {
    const M: u32 = 0o644;
    for steps in [
        &[&[("foo", "foo", M), ("bar", "bar", M)][..], &[("foo", "foo2", M), ("bar", "bar2", 0o640)]][..],
        &[
            &[("foo", "foo", M), ("bar", "bar", M)],
            &[("foo", "foo2", 0o400), ("bar", "bar2", 0o400)],
            &[("foo", "foo3", 0o600), ("bar", "bar3", 0o600)],
        ],
        &[&[("foo/bar.txt", "foo", M)], &[("foo/bar.txt", "foo", M), ("blu/zip.txt", "zip", M)]],
        &[&[("foo/bar.txt", "foo", M)], &[("foo/bar.txt", "foo", M), ("foo/2/3/4/5/zip.txt", "zip", M)]],
        &[&[("foo/bar.txt", "foo", M), ("bar/1/2/3/zab.txt", "bar", M)], &[("foo/bar.txt", "foo", M)]],
        &[
            &[("foo/bar.txt", "foo", M), ("bar/1/2/sip.txt", "sip", M), ("bar/1/2/3/zab.txt", "bar", M)],
            &[("foo/bar.txt", "foo", M), ("bar/1/2/sip.txt", "sip", M)],
        ],
        &[&[("foo/bar.txt", "foo", M), ("bar/1/2/3/4/5/6zab.txt", "bar", M)], &[]],
        &[&[("foo/bar.txt", "foo", M)], &[("bar/baz.txt", "baz", M)]],
        &[
            &[("foo/bar.txt", "foo", M), ("bar//zab.txt", "bar", M), ("zip/zap/zup/fop.txt", "zip", M)],
            &[("foo/bar.txt", "foo2", M), ("bar/zab.txt", "bar2", M)],
            &[("foo/bar.txt", "foo", M)],
        ],
        // Upstream fails for ever on these two.
        &[&[("foo", "a file", M)], &[("foo/bar", "a directory", M)]],
        &[&[("foo/bar", "a directory", M)], &[("foo", "a file", M)]],
    ] {
        let volume = tempfile::tempdir().expect("a directory");
        for rows in steps {
            write_and_check(volume.path(), rows);
        }
    }
}

// TestCreateUserVisibleFiles, and the layout as a whole.
#[test]
fn links_lead_through_one_link() {
    let volume = tempfile::tempdir().expect("a directory");
    write(volume.path(), &files(&[("./bar", "1", 0o644), ("foo///bar", "2", 0o644)])).expect("written");
    let link = |name: &str| fs::read_link(volume.path().join(name)).expect("a link");
    assert_eq!([link("bar"), link("foo")], ["..data/bar", "..data/foo"].map(Path::new));
    let data = link("..data").into_os_string().into_string().expect("a name");
    let random = data.strip_prefix("..2026_02_01_15_04_05.").expect("the time of the write");
    assert!(!random.is_empty() && random.bytes().all(|byte| byte.is_ascii_digit()), "{data}");
    let mode = fs::metadata(volume.path().join(data)).expect("a directory").permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn equal_content_is_not_touched_whatever_its_mode() {
    let volume = tempfile::tempdir().expect("a directory");
    assert!(write(volume.path(), &files(&[("foo", "foo", 0o644)])).expect("written"));
    let before = fs::metadata(volume.path().join("..data/foo")).expect("a file").ino();
    assert!(!write(volume.path(), &files(&[("foo", "foo", 0o400)])).expect("nothing to do"));
    let after = fs::metadata(volume.path().join("..data/foo")).expect("a file");
    assert_eq!((after.ino(), after.permissions().mode() & 0o777), (before, 0o644));
}

#[test]
fn what_belongs_to_somebody_else_stays() {
    let volume = tempfile::tempdir().expect("a directory");
    let path = |name: &str| volume.path().join(name);
    fs::write(path("foo"), "mine").expect("written");
    symlink("elsewhere", path("bar")).expect("linked");
    fs::create_dir(path("lost+found")).expect("made");
    write(volume.path(), &files(&[("foo", "1", 0o644), ("bar", "2", 0o644), ("new", "3", 0o644)])).expect("written");
    write(volume.path(), &files(&[])).expect("written");
    assert_eq!(fs::read_to_string(path("foo")).expect("a file"), "mine");
    assert_eq!(fs::read_link(path("bar")).expect("a link"), Path::new("elsewhere"));
    assert!(path("lost+found").is_dir());
    assert!(fs::symlink_metadata(path("new")).is_err());
}

// TestSetPerms.
#[test]
fn permissions_are_set_before_anybody_sees_the_files() {
    let volume = tempfile::tempdir().expect("a directory");
    let writer = AtomicWriter::new(volume.path()).expect("a directory");
    let mut calls = 0;
    let before = || {
        calls += 1;
        assert!(fs::symlink_metadata(volume.path().join("..data")).is_err());
        Ok(())
    };
    writer.write(&payload(1), NOW, before).expect("written");
    assert_eq!(calls, 1);
    let error = writer.write(&payload(2), NOW, || Err(io::Error::other("error in setPerms"))).expect_err("passed on");
    assert!(error.to_string().ends_with("error in setPerms"), "{error}");
    assert_eq!(content(volume.path()).expect("still there"), payload(1));
    check_own_names(volume.path());
}

#[test]
fn files_are_given_away_by_root_and_kept_by_others() {
    let volume = tempfile::tempdir().expect("a directory");
    let me = fs::metadata(volume.path()).expect("a directory").uid();
    let file = FileProjection { data: b"token".to_vec(), mode: 0o600, owner: Some(1000) };
    write(volume.path(), &[("token".to_owned(), file)].into()).expect("written");
    let expected = if me == 0 { 1000 } else { me };
    let owner = |path: &str| fs::symlink_metadata(volume.path().join(path)).expect("there").uid();
    assert_eq!([owner("token"), owner("..data/token")], [expected; 2]);
}
