//! Templates, held against what Go's `text/template` makes of them with the functions of kwok v0.8.0.

use super::{Surroundings, Template};
use tree::{Value, json};

fn pod() -> Value {
    json!({
        "metadata": {"name": "web", "uid": "u-1", "labels": {"b": "2", "a": "1"}, "generation": 3, "empty": null},
        "spec": {
            "nodeName": "node-1",
            "containers": [{"name": "c", "image": "nginx:1"}, {"name": "d", "image": "say \"hi\""}],
            "replicas": 0,
        },
    })
}

fn render(text: &str) -> Result<String, String> {
    let template = Template::parse(text).map_err(|mistake| format!("{}: {}", mistake.line, mistake.message))?;
    let now = "2030-01-02T03:04:05.006Z".parse().unwrap();
    let started = "2030-01-01T00:00:00Z".parse().unwrap();
    template.render(&pod(), &Surroundings { now, started, node: ("node-1", "192.168.0.2"), pod_ip: "10.244.0.1" })
}

#[test]
fn templates_make_what_go_makes_of_them() {
    for (template, expected) in [
        ("a {{ .metadata.name }} b", "a web b"),
        (
            "{{.metadata.none}} {{.metadata.none.of.these}} {{.metadata.empty}} {{print nil}}",
            "<no value> <no value> <no value> <nil>",
        ),
        ("a\n{{- /* said */ -}}\n b {{- .metadata.name -}} \n c", "abwebc"),
        (
            "{{ .metadata.labels }} {{ .spec.containers }}",
            "map[a:1 b:2] [map[image:nginx:1 name:c] map[image:say \"hi\" name:d]]",
        ),
        ("{{ range .spec.containers }}{{ .name }},{{ end }}", "c,d,"),
        ("{{ range $i, $c := .spec.containers }}{{ $i }}={{ $c.name }};{{ end }}", "0=c;1=d;"),
        ("{{ range $k, $v := .metadata.labels }}{{ $k }}={{ $v }};{{ end }}", "a=1;b=2;"),
        ("{{ range .spec.none }}x{{ else }}none{{ end }}", "none"),
        ("{{ range 3 }}{{ . }}{{ end }}", "012"),
        ("{{ if .spec.none }}a{{ else if .spec.nodeName }}b{{ else }}c{{ end }}", "b"),
        ("{{ with .spec.none }}a{{ else with .spec.nodeName }}{{ . }}{{ end }}", "node-1"),
        ("{{ if .spec.replicas }}a number of an object is a text{{ end }}", "a number of an object is a text"),
        ("{{ if 0 }}a{{ else }}b{{ end }}{{ if not false }}c{{ end }}", "bc"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ end }}{{ $x }}", "2"),
        ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ end }}{{ $x }}{{ $.metadata.name }}", "1web"),
        (
            "{{ or .spec.none .metadata.name }} {{ and .metadata.name .spec.none }} {{ or .spec.none \"\" }}|",
            "web <no value> |",
        ),
        (
            "{{ eq .metadata.name \"a\" \"web\" }} {{ ne .metadata.name \"a\" }} {{ eq .spec.none \"a\" }} {{ eq 1 1 }}",
            "true true false true",
        ),
        ("{{ lt 1 2 }} {{ ge \"a\" \"b\" }}", "true false"),
        (
            "{{ index .spec.containers 1 | len }} {{ (index .spec.containers 0).name }} {{ index .metadata.labels \"a\" }}",
            "2 c 1",
        ),
        ("{{ index .metadata.labels \"none\" }} {{ len .metadata.name }}", "<no value> 3"),
        (
            "{{ .metadata.name | Quote }} {{ .spec.none | Quote }} {{ .metadata.generation | Quote }} {{ true | Quote }}",
            "\"web\" \"null\" \"3\" \"true\"",
        ),
        ("{{ (index .spec.containers 1).image | Quote }}", "\"say \\\"hi\\\"\""),
        (
            "{{ printf \"%s-%v-%d%%\" .metadata.name .metadata.generation 7 }} {{ print 1 2 \"a\" 3 true }} {{ println 1 \"a\" }}|",
            "web-3-7% 1 2a3 true 1 a\n|",
        ),
        (
            "{{ default \"x\" .spec.none }} {{ default \"x\" .metadata.name }} {{ index (dict \"a\" 1) \"a\" }}",
            "x web 1",
        ),
        ("{{ Now }} {{ StartTime }}", "2030-01-02T03:04:05.006Z 2030-01-01T00:00:00Z"),
        (
            "a:{{ YAML .metadata.labels 1 }}b:{{ YAML .metadata.labels }}",
            "a:\n  a: \"1\"\n  b: \"2\"\n  b:a: \"1\"\nb: \"2\"\n",
        ),
        (
            "{{ NodeIPWith .spec.nodeName }} {{ NodeIPsWith .spec.nodeName }} {{ NodePort }} {{ NodeName }}",
            "192.168.0.2 [192.168.0.2] 10250 node-1",
        ),
        ("{{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) (or .metadata.uid \"\") \"\" \"\" }}", "10.244.0.1"),
        (
            "{{ range NodeConditions }}{{ .type }}={{ .status }} {{ end }}",
            "Ready=True MemoryPressure=False DiskPressure=False PIDPressure=False NetworkUnavailable=False ",
        ),
        ("{{ `raw \"text\"` }}{{ \"a\\tb\" }}", "raw \"text\"a\tb"),
    ] {
        assert_eq!(render(template).as_deref(), Ok(expected), "{template}");
    }
}

#[test]
fn what_cannot_be_done_is_said_in_words() {
    for (template, expected) in [
        ("a\n{{ index .spec.none 0 }}", "line 2 of the template: error calling index: index of untyped nil"),
        (
            "{{ index .spec.containers 2 }}",
            "line 1 of the template: error calling index: reflect: slice index out of range",
        ),
        ("{{ .metadata.empty.a }}", "line 1 of the template: nil pointer evaluating interface {}.a"),
        ("{{ .metadata.name.a }}", "line 1 of the template: can't evaluate field a in type interface {}"),
        (
            "{{ eq 1 .metadata.generation }}",
            "line 1 of the template: error calling eq: incompatible types for comparison: int and json.Number",
        ),
        ("{{ Quote }}", "line 1 of the template: wrong number of args for Quote: want 1 got 0"),
        ("{{ range .metadata.name }}{{ end }}", "line 1 of the template: range can't iterate over web"),
    ] {
        assert_eq!(render(template).unwrap_err(), expected, "{template}");
    }
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    for (template, expected) in [
        ("a\n\n{{ toYaml . }}", "2: the function toYaml is not supported in a template"),
        ("{{ define \"a\" }}{{ end }}", "0: define is not supported in a template"),
        ("{{ range . }}{{ break }}{{ end }}", "0: break is not supported in a template"),
        ("{{ if . }}\n\n", "0: unexpected EOF: a block has no {{end}}"),
        ("{{ end }}", "0: unexpected {{end}}"),
        ("{{ .a", "0: unclosed action"),
        ("{{ $x }}", "0: undefined variable \"$x\""),
        ("{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}", "0: undefined variable \"$x\""),
        ("{{ .a .b }}", "0: can't give argument to non-function"),
        ("{{ .a | .b }}", "0: non executable command in pipeline"),
        ("{{ 1.5 }}", "0: the number 1.5 is not supported in a template: it is no whole one in decimal"),
        ("{{ \"a }}", "0: unterminated quoted string"),
        ("{{ }}", "0: missing value for command"),
        ("{{ nil }}", "0: nil is not a command"),
    ] {
        assert_eq!(render(template).unwrap_err(), expected, "{template}");
    }
}
