use std::time::Duration;

use rulebook::agent::{AddPolicy, Agent};
use rulebook::diagnostic::Diagnostic;
use rulebook::format::FormatId;
use rulebook::resolve::Identity;
use rulebook::session::{StreamLimits, StreamSettings};
use rulebook::stream::policy::{ContextMode, InterruptMode, RepeatMode, StreamModes};

use super::*;

const ROOT: LayerKind = LayerKind::Workspace { root: 0 };

fn layer(kind: LayerKind, text: &str) -> Layer {
    let display = match kind {
        LayerKind::Workspace { .. } => "rulebook.toml",
        LayerKind::User => "config.toml",
        LayerKind::Flags => "flags",
    };
    Layer { kind, display: display.to_owned(), text: text.to_owned() }
}

fn lines(diagnostics: &[Diagnostic]) -> Vec<String> {
    let line = |d: &Diagnostic| {
        format!("{}:{}:{} {}: {}; {}", d.path, d.line, d.column, d.code.row().name, d.message, d.help)
    };
    diagnostics.iter().map(line).collect()
}

/// Merges layers without errors.
#[track_caller]
fn merged(layers: &[(LayerKind, &str)]) -> Settings {
    let layers: Vec<Layer> = layers.iter().map(|(kind, text)| layer(*kind, text)).collect();
    let (settings, diagnostics) = merge(&layers);
    assert_eq!(lines(&diagnostics), Vec::<String>::new());
    settings
}

/// Checks that a layer is reported with one line and changes no setting.
#[track_caller]
fn check(kind: LayerKind, text: &str, problem: &str) {
    let (settings, diagnostics) = merge(&[layer(kind, text)]);
    assert_eq!(lines(&diagnostics), [problem]);
    let remotes_left_out = usize::from(kind == LayerKind::User && text.contains("[remote]"));
    let want = Settings { set_by: settings.set_by.clone(), remotes_left_out, ..Settings::default() };
    assert_eq!(settings, want);
}

fn entries(list: &[Setting]) -> Vec<&str> {
    list.iter().map(|entry| entry.value.as_str()).collect()
}

#[test]
fn every_key_is_read() {
    let settings = merged(&[(
        LayerKind::User,
        r#"
            trust = "require"
            [rules]
            enabled = false
            disabled_ids = [" My Rule "]
            extra_paths = ["~/rules", "/etc/rules"]
            formats = ["Cursor"]
            strict = ["opencode"]
            allow_links = ["~/shared"]
            identity = "name"
            [agents]
            used = ["Claude-Code", "copilot"]
            [agents.cline-sdk]
            add = ["cursor", "agents-md"]
            version = "3.1"
            [agents.claude]
            add = "none"
            [workspace]
            tags = ["rust"]
            env = "ci"
            [stream]
            interruptMode = "tool-only"
            context_mode = "keep"
            repeatMode = "after-gap"
            repeat_gap = 0x10
            maxInterrupts = 1
            holdBytes = 1024
            hold_ms = 500
            [budget]
            tokens = 4_000
            [[remote]]
            name = "org"
            url = "https://example.com/rules.json"
            sha256 = "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"
            refresh = "12h"
            token_env = "ORG_TOKEN"
            ca_file = "~/ca.pem"
        "#,
    )]);
    let setting = |value: &str| Setting {
        value: value.to_owned(),
        file: "config.toml".to_owned(),
        root: None,
        format: None,
    };
    assert_eq!(
        settings,
        Settings {
            remotes_left_out: 0,
            rules: Rules {
                enabled: false,
                disabled_ids: vec![setting("my-rule")],
                extra_paths: vec![setting("~/rules"), setting("/etc/rules")],
                formats: vec![setting("cursor")],
                strict: vec![setting("opencode")],
                allow_links: vec!["~/shared".to_owned()],
                identity: Identity::Name,
            },
            agents: settings.agents.clone(),
            export: values::Export::default(),
            workspace: WorkspaceFacts { tags: vec!["rust".to_owned()], env: Some("ci".to_owned()) },
            stream: StreamSettings {
                mandatory: StreamLimits::default(),
                others: StreamLimits {
                    modes: StreamModes {
                        interrupt: InterruptMode::ToolOnly,
                        context: ContextMode::Keep,
                        repeat: RepeatMode::AfterGap,
                        gap: 16,
                    },
                    max_interrupts: 1,
                    hold_bytes: 1024,
                    hold_ms: 500,
                },
            },
            budget: rulebook::render::Budget { tokens: Some(4000) },
            remotes: vec![Remote {
                name: "org".to_owned(),
                url: "https://example.com/rules.json".to_owned(),
                sha256: Some("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned()),
                refresh: Some(Duration::from_secs(43200)),
                minisign_key: None,
                token_env: Some("ORG_TOKEN".to_owned()),
                ca_file: Some("~/ca.pem".to_owned()),
                is_held: false,
                faults: Vec::new(),
            }],
            trust: Trust::Require,
            set_by: settings.set_by.clone(),
        }
    );
    assert_eq!(settings.set_by("rules.enabled"), Some("config.toml"));
    assert_eq!(entries(&settings.agents.used), ["claude", "copilot"]);
    let [cline, claude] = ["cline-cli", "claude"].map(|name| settings.agents.of(Agent::named(name).unwrap()));
    assert_eq!(cline.add, AddPolicy::Formats(vec![FormatId::Cursor, FormatId::AgentsMd]));
    assert_eq!(cline.version.as_deref(), Some("3.1"));
    assert_eq!(claude.add, AddPolicy::Nothing);
}

#[test]
fn ttsr_is_another_name_of_stream() {
    let of = |text: &'static str| merged(&[(LayerKind::User, text)]);
    assert_eq!(of("[ttsr]\nmaxInterrupts = 1\n"), of("[stream]\nmax_interrupts = 1\n"));
    assert_ne!(of("[ttsr]\nmaxInterrupts = 1\n"), of(""));
}

#[test]
fn the_settings_of_an_agent_are_merged_by_key() {
    let settings = merged(&[
        (ROOT, "agents.used = ['claude', 'cursor']\n[agents.claude]\nadd = 'none'\nversion = '1.0'"),
        (LayerKind::User, "agents.used = ['!cursor', 'gemini']\n[agents.claude]\nadd = 'all'"),
    ]);
    assert_eq!(entries(&settings.agents.used), ["claude", "gemini"]);
    let claude = settings.agents.of(Agent::named("claude").unwrap());
    assert_eq!((claude.add, claude.version.as_deref()), (AddPolicy::All, Some("1.0")));
}

#[test]
fn unknown_agents_and_formats_of_agents_are_reported() {
    check(
        LayerKind::User,
        "agents.used = ['cusror']",
        "config.toml:1:16 bad-value: no agent named `cusror`; it is ignored; did you mean `cursor`?",
    );
    check(
        LayerKind::User,
        "[agents.cusror]\nadd = 'all'",
        "config.toml:1:9 unknown-setting: no agent named `cusror`; did you mean `cursor`?",
    );
    let (_, diagnostics) = merge(&[layer(LayerKind::User, "[agents.cursor]\nadd = 'some'")]);
    let wanted = "config.toml:2:7 bad-value: `agents.cursor.add` must be `all`, `none` or a list of formats, found `'some'`; correct the value";
    assert!(lines(&diagnostics)[0].starts_with(wanted), "{:?}", lines(&diagnostics));
}

#[test]
fn absent_keys_have_their_defaults() {
    let settings = merged(&[(ROOT, ""), (LayerKind::User, "# nothing\n[rules]\n")]);
    assert_eq!(settings, Settings::default());
    assert!(settings.rules.enabled);
    assert_eq!(settings.stream.others, StreamLimits::default());
    assert_eq!(settings.trust.name(), "warn");
    assert_eq!(settings.set_by("rules.enabled"), None);
}

#[test]
fn a_later_value_replaces_an_earlier_one() {
    let settings = merged(&[
        (ROOT, "rules.enabled = false\nbudget.tokens = 5"),
        (LayerKind::User, "rules.enabled = true"),
        (LayerKind::Flags, "budget.tokens = 6"),
    ]);
    assert!(settings.rules.enabled);
    assert_eq!(settings.budget.tokens, Some(6));
    assert_eq!(settings.set_by("rules.enabled"), Some("config.toml"));
}

#[test]
fn lists_are_joined_and_exclamation_marks_remove_entries() {
    #[track_caller]
    fn check(layers: [&str; 3], expected: &[&str]) {
        let kinds = [ROOT, LayerKind::User, LayerKind::Flags];
        let texts = layers.map(|items| format!("rules.disabled_ids = [{items}]"));
        let layers: Vec<_> = kinds.into_iter().zip(texts.iter().map(String::as_str)).collect();
        assert_eq!(entries(&merged(&layers).rules.disabled_ids), expected);
    }
    check(["'b', 'a'", "'a', 'c'", "'B'"], &["b", "a", "c"]);
    check(["'a', 'b'", "'!a'", ""], &["b"]);
    check(["'My Rule'", "'! my rule'", ""], &[]);
    check(["'a', 'b'", "'!a'", "'a'"], &["b", "a"]);
    check(["'!a'", "'a'", ""], &["a"]);
    check(["'a'", "'!b'", "'!a'"], &[]);
}

#[test]
fn an_entry_names_the_first_file_that_has_it() {
    let settings =
        merged(&[(ROOT, "rules.disabled_ids = ['a']"), (LayerKind::User, "rules.disabled_ids = ['a', 'b']")]);
    let by: Vec<_> = settings.rules.disabled_ids.iter().map(|id| (id.file.as_str(), id.root)).collect();
    assert_eq!(by, [("rulebook.toml", Some(0)), ("config.toml", None)]);
}

#[test]
fn two_roots_may_have_the_same_relative_path() {
    let texts = [
        (ROOT, "rules.extra_paths = ['docs']"),
        (LayerKind::Workspace { root: 1 }, "rules.extra_paths = ['docs']"),
    ];
    let roots: Vec<_> = merged(&texts).rules.extra_paths.iter().map(|path| path.root).collect();
    assert_eq!(roots, [Some(0), Some(1)]);
    let removed = [texts[0], texts[1], (LayerKind::User, "rules.extra_paths = ['!docs']")];
    assert_eq!(entries(&merged(&removed).rules.extra_paths), Vec::<&str>::new());
}

#[test]
fn formats_are_names_or_exceptions() {
    #[track_caller]
    fn check(workspace: &str, user: &str, expected: &[&str], reads: [bool; 2]) {
        let [workspace, user] = [workspace, user].map(|items| format!("rules.formats = [{items}]"));
        let rules = merged(&[(ROOT, &workspace), (LayerKind::User, &user)]).rules;
        assert_eq!(entries(&rules.formats), expected);
        assert_eq!([FormatId::Cline, FormatId::Cursor].map(|id| rules.reads(id)), reads);
    }
    check("", "", &[], [true, true]);
    check("'cline'", "", &["cline"], [true, false]);
    check("'!cursor'", "", &["!cursor"], [true, false]);
    check("'cline', 'cursor'", "'!cursor'", &["cline"], [true, false]);
    check("'cursor'", "'!cursor'", &["!cursor"], [true, false]);
    check("'!cursor'", "'cursor'", &["cursor"], [false, true]);
    check("'!cursor'", "'cline'", &["cline"], [true, false]);
}

#[test]
fn an_error_is_located_and_its_help_says_what_to_write() {
    let user = LayerKind::User;
    check(
        user,
        "a = [1,\n",
        "config.toml:1:8 bad-settings: unclosed array, expected `]`; fix the file; settings from other files still apply",
    );
    check(
        user,
        "[ruls]\n",
        "config.toml:1:2 unknown-setting: `ruls` is not a setting; did you mean `rules`?",
    );
    check(
        user,
        "[rules]\n  enabeld = 1\n",
        "config.toml:2:3 unknown-setting: `rules.enabeld` is not a setting; did you mean `enabled`?",
    );
    check(
        user,
        "disabled_ids = []\n",
        "config.toml:1:1 unknown-setting: `disabled_ids` is not a setting; put it under `[rules]`",
    );
    check(
        user,
        "[budget]\nzzzz = 1\n",
        "config.toml:2:1 unknown-setting: `budget.zzzz` is not a setting; remove it; the settings here are `tokens`",
    );
    check(
        user,
        "name = 'a'\n",
        "config.toml:1:1 unknown-setting: `name` is not a setting; put it under `[[remote]]`",
    );
    check(
        user,
        "['']\nenabled = false\n",
        "config.toml:1:2 unknown-setting: `''` is not a setting; remove it; the settings here are `agents`, `budget`, `export`, `remote`, `rules`, `stream`, `trust`, `workspace`",
    );
    check(
        user,
        "budget.\"\\u001b[31mx\" = 1\n",
        "config.toml:1:8 unknown-setting: `budget.\"\\u001b[31mx\"` is not a setting; remove it; the settings here are `tokens`",
    );
    check(
        user,
        "rules = 3\n",
        "config.toml:1:9 wrong-type: `rules` must be a table, found `3`; correct the value, or remove the key",
    );
    check(
        user,
        "rules.enabled = 'yes'\n",
        "config.toml:1:17 wrong-type: `rules.enabled` must be true or false, found `'yes'`; correct the value, or remove the key",
    );
    check(
        user,
        "rules.disabled_ids = 'a'\n",
        "config.toml:1:22 wrong-type: `rules.disabled_ids` must be a list of strings, found `'a'`; correct the value, or remove the key",
    );
    check(
        user,
        "rules.formats = [{}]\n",
        "config.toml:1:18 wrong-type: `rules.formats` must be a list of strings, found a table; correct the value, or remove the key",
    );
    check(
        user,
        "rules.formats = ['! ']\n",
        "config.toml:1:18 bad-value: an entry of `rules.formats` is empty; remove it",
    );
    check(
        user,
        "stream.repeatGap = -1\n",
        "config.toml:1:20 bad-value: `stream.repeat_gap` must be a whole number from 0 to 4294967295, found `-1`; correct the value, or remove the key",
    );
    check(
        user,
        "stream.repeatMode = 'twice'\n",
        "config.toml:1:21 bad-value: `stream.repeat_mode` must be one of `once`, `after-gap`, found `'twice'`; write another value, or remove the key",
    );
    check(
        user,
        "stream.interrupt_mode = 'alway'\n",
        "config.toml:1:25 bad-value: `stream.interrupt_mode` must be one of `always`, `prose-only`, `tool-only`, `never`, found `'alway'`; did you mean `\"always\"`?",
    );
    check(
        user,
        "[remote]\nx = 'a'\n",
        "config.toml:1:1 protection: `remote` must be a list of tables, each under `[[…]]`, found a table; no remote is used; correct the value, or remove the key",
    );
    let (_, secret) = merge(&[layer(
        user,
        "[[remote]]\nname = 'a'\nurl = 'https://me:hunter2@example.com/'\ntoken_env = 'ghp-hunter2'\n",
    )]);
    assert_eq!(secret.len(), 2);
    assert!(!format!("{secret:?}").contains("hunter2"), "{secret:?}");
    check(
        user,
        "\n[[remote]]\nname = 'a'\n",
        "config.toml:2:1 protection: `a` is left out: it needs a `name` and a `url`; add what is missing",
    );
}

#[test]
fn a_workspace_cannot_point_outside_itself() {
    let remedy = "put it in your user settings";
    for (text, at, what) in [
        ("trust = 'off'", "1:1", "set `trust`"),
        ("[[remote]]\nname='a'\nurl='b'", "1:3", "set `remote`"),
        ("rules.allow_links = ['/']", "1:7", "set `rules.allow_links`"),
    ] {
        check(
            ROOT,
            text,
            &format!("rulebook.toml:{at} refused-setting: a workspace's settings cannot {what}; {remedy}"),
        );
    }
    for path in ["/etc", "~/x", "~", "..", "a/../../b", "./..", r"C:\x", r"\\host\x", r"a\..\..\b", "!/etc"] {
        check(
            ROOT,
            &format!("rules.extra_paths = ['{path}']"),
            &format!(
                "rulebook.toml:1:22 refused-setting: a workspace's `rules.extra_paths` cannot point outside it: `'{path}'`; {remedy}"
            ),
        );
    }
    let inside = merged(&[(ROOT, "rules.extra_paths = ['a/../b', './c', 'd..', '..e']")]);
    assert_eq!(entries(&inside.rules.extra_paths), ["a/../b", "./c", "d..", "..e"]);
}

#[test]
fn one_bad_value_does_not_affect_the_others() {
    let text =
        "[rules]\ndisabled_ids = ['a', 3, 'b']\nenabled = 0\n[stream]\nrepeat_gap = 4\nrepeatGap = 5\n";
    let (settings, diagnostics) = merge(&[layer(ROOT, "x ="), layer(LayerKind::User, text)]);
    assert_eq!(entries(&settings.rules.disabled_ids), ["a", "b"]);
    assert_eq!(settings.stream.others.modes.gap, 4);
    let places: Vec<_> =
        diagnostics.iter().map(|d| (d.path.as_str(), d.line, d.column, d.code.row().name)).collect();
    assert_eq!(
        places,
        [
            ("rulebook.toml", 1, 4, "bad-settings"),
            ("config.toml", 2, 22, "wrong-type"),
            ("config.toml", 3, 11, "wrong-type"),
            ("config.toml", 6, 1, "duplicate-key"),
        ]
    );
}

#[test]
fn a_remote_with_an_error_keeps_its_copy() {
    #[track_caller]
    fn check(line: &str) {
        let text =
            format!("[[remote]]\nname = 'a'\nurl = '/u'\n{line}\n[[remote]]\nname = 'b'\nurl = '/v'\n");
        let (settings, diagnostics) = merge(&[layer(LayerKind::User, &text)]);
        let remotes = settings.remotes.iter().map(|remote| (remote.name.as_str(), remote.is_held));
        assert_eq!(remotes.collect::<Vec<_>>(), [("a", true), ("b", false)]);
        assert_eq!(diagnostics.iter().map(|d| d.code.row().name).collect::<Vec<_>>(), ["protection"]);
    }
    check("sha256 = 'abc'");
    check("sha265 = 'abc'");
    check("refresh = 3");
    check("token_env = 'ghp_abcdef'");
    check("minisign_key = 'abc'");
}

#[test]
fn a_later_remote_replaces_the_one_of_the_same_name() {
    let settings = merged(&[
        (LayerKind::User, "[[remote]]\nname='a'\nurl='/1'\n[[remote]]\nname='b'\nurl='/2'"),
        (LayerKind::Flags, "[[remote]]\nname='a'\nurl='/3'"),
    ]);
    let remotes: Vec<_> =
        settings.remotes.iter().map(|remote| (remote.name.as_str(), remote.url.as_str())).collect();
    assert_eq!(remotes, [("a", "/3"), ("b", "/2")]);
}

#[test]
fn a_hostile_file_is_bounded() {
    #[track_caller]
    fn check(text: &str, most: usize) {
        let (_, diagnostics) = merge(&[layer(ROOT, text)]);
        assert!((1..=most).contains(&diagnostics.len()), "{}", diagnostics.len());
        assert!(diagnostics.iter().all(|d| d.message.len() < 500 && d.help.len() < 500));
    }
    let keys = |count: usize| (0..count).map(|at| format!("k{at}=1\n")).collect::<String>();
    check(&keys(100_000), 101);
    check(&format!("{}=1", "k".repeat(1 << 19)), 1);
    check(&format!("rules.enabled='{}'", "é".repeat(1 << 18)), 1);
    check(&format!("rules.extra_paths=[{}]", "'/',".repeat(200_000)), 101);
    check(&format!("a={}", "[".repeat(100_000)), 1);
    check(&" ".repeat((1 << 20) + 1), 1);
    let ids = (0..100_000).map(|at| format!("'{at}',")).collect::<String>();
    assert_eq!(merged(&[(ROOT, &format!("rules.disabled_ids=[{ids}]"))]).rules.disabled_ids.len(), 100_000);
}

/// Checks the trust and the remotes of a person's settings that cannot be read, and that they are reported.
#[track_caller]
fn check_protection(text: &str, trust: Trust, remotes: &[(&str, bool)], problem: &str) {
    let (settings, diagnostics) = merge(&[layer(LayerKind::User, text)]);
    let found: Vec<(&str, bool)> =
        settings.remotes.iter().map(|remote| (remote.name.as_str(), remote.is_held)).collect();
    assert_eq!((settings.trust, found.as_slice()), (trust, remotes));
    assert_eq!(lines(&diagnostics), [problem]);
}

#[test]
fn what_protects_fails_closed() {
    check_protection(
        "trust = 'requier'\n",
        Trust::Require,
        &[],
        "config.toml:1:9 protection: `trust` must be one of `warn`, `require`, `off`, found `'requier'`; it counts as `require`; did you mean `\"require\"`?",
    );
    check_protection(
        "trust = true\n",
        Trust::Require,
        &[],
        "config.toml:1:9 protection: `trust` must be one of `warn`, `require`, `off`, found `true`; it counts as `require`; correct the value, or remove the key",
    );
    check_protection(
        "[[remote]]\nname = 'a'\nurl = '/a.json'\nrefresh = '2y'\n[[remote]]\nname = 'b'\nurl = '/b.json'\n",
        Trust::Warn,
        &[("a", true), ("b", false)],
        "config.toml:4:11 protection: `remote.refresh` must be a time in `s`, `m`, `h`, `d` or `w`, such as `12h` or `2w`, in quotes, found `'2y'`; `a` is not fetched until this is fixed; a copy fetched earlier stays in use; correct the value, or remove the key",
    );
    check_protection(
        "[[remote]]\nname = 'a'\nurl = '/a.json'\nsha265 = '00'\n",
        Trust::Warn,
        &[("a", true)],
        "config.toml:4:1 protection: `remote.sha265` is not a setting; `a` is not fetched until this is fixed; a copy fetched earlier stays in use; did you mean `sha256`?",
    );
}

#[test]
fn trust_counts_as_require_wherever_it_is_written() {
    #[track_caller]
    fn check(text: &str, problems: &[&str]) {
        let (settings, diagnostics) = merge(&[layer(LayerKind::User, text)]);
        assert_eq!(
            (settings.trust, lines(&diagnostics)),
            (Trust::Require, problems.iter().map(|line| (*line).to_owned()).collect()),
            "{text}"
        );
        let (settings, _) = merge(&[layer(ROOT, text)]);
        assert_eq!(settings.trust, Trust::Warn, "a workspace cannot change trust: {text}");
    }
    const TOP: &str = "`trust` counts as `require`; put `trust` at the top, before any table";
    for table in ["rules", "stream", "budget", "workspace", "export", "agents"] {
        check(
            &format!("[{table}]\ntrust = 'require'\n"),
            &[&format!("config.toml:2:1 protection: `{table}.trust` is not a setting; {TOP}")],
        );
    }
    check(
        "[agents.claude]\ntrsut = 'require'\n",
        &[&format!("config.toml:2:1 protection: `agents.NAME.trsut` is not a setting; {TOP}")],
    );
    check(
        "[budget]\ntokens = 4000\n\ntrust = 'off'\n",
        &[&format!("config.toml:4:1 protection: `budget.trust` is not a setting; {TOP}")],
    );
    check(
        "trust_mode = 'require'\n",
        &[
            "config.toml:1:1 protection: `trust_mode` is not a setting; `trust` counts as `require`; did you mean `trust`?",
        ],
    );
    check(
        "trust = 'warn'\n[security]\ntrust = 'require'\n",
        &[
            "config.toml:2:2 unknown-setting: `security` is not a setting; remove it; the settings here are `agents`, `budget`, `export`, `remote`, `rules`, `stream`, `trust`, `workspace`",
            &format!("config.toml:3:1 protection: `security.trust` is not a setting; {TOP}"),
        ],
    );
    check(
        "[[remote]]\nname = 'a'\nurl = '/a.json'\ntrust = 'require'\n",
        &[&format!(
            "config.toml:4:1 protection: `remote.trust` is not a setting; `a` is not fetched until this is fixed; a copy fetched earlier stays in use; {TOP}"
        )],
    );
}

#[test]
fn remotes_under_another_name_keep_their_copies() {
    #[track_caller]
    fn check(header: &str, problem: &str) {
        let text = format!("{header}\nname = 'a'\nurl = '/a.json'\nrefresh = '1h'\n");
        check_protection(&text, Trust::Warn, &[("a", true)], problem);
        let (settings, diagnostics) = merge(&[layer(LayerKind::User, &text)]);
        assert_eq!(settings.remotes[0].faults, diagnostics);
        assert_eq!(settings.remotes[0].url, "/a.json");
    }
    let held = "`a` is not fetched until this is fixed; a copy fetched earlier stays in use";
    for name in ["remotes", "Remote", "remoet"] {
        check(
            &format!("[[{name}]]"),
            &format!(
                "config.toml:1:3 protection: `{name}` is not a setting; {held}; write `[[remote]]` before each remote"
            ),
        );
    }
    check(
        "[[rules.remote]]",
        &format!(
            "config.toml:1:9 protection: `rules.remote` is not a setting; {held}; write `[[remote]]` before each remote"
        ),
    );
    let table = "protection: `remote` must be a list of tables, each under `[[…]]`, found a table";
    check("[remote]", &format!("config.toml:1:1 {table}; {held}; correct the value, or remove the key"));
    check_protection(
        "[remote.a]\nurl = '/a.json'\n[remote.b]\nurl = '/b.json'\n",
        Trust::Warn,
        &[("a", true), ("b", true)],
        &format!(
            "config.toml:1:2 {table}; `a`, `b` are not fetched until this is fixed; copies fetched earlier stay in use; correct the value, or remove the key"
        ),
    );
}

#[test]
fn a_file_that_is_not_toml_keeps_its_protection() {
    let (settings, diagnostics) = merge(&[layer(
        LayerKind::User,
        "trust = \"require\nrules.enabled = false\n[[remote]]\nname = 'a'\nurl = '/a.json'\nsha256 = '00'\n",
    )]);
    assert_eq!(settings.trust, Trust::Require);
    assert!(settings.rules.enabled);
    assert_eq!(settings.remotes.len(), 1);
    assert!(settings.remotes[0].is_held && settings.remotes[0].sha256.is_none());
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    let (settings, _) = merge(&[layer(LayerKind::User, "rules.enabled = \n")]);
    assert_eq!(settings.trust, Trust::Warn);
    let (settings, _) = merge(&[layer(ROOT, "trust = \n")]);
    assert_eq!(settings.trust, Trust::Warn);
}

#[test]
fn numbers_have_bounds_so_that_a_repository_cannot_hold_back_a_stream_for_long() {
    let text = "[stream]\nhold_ms = 4000000000\nhold_bytes = 1048577\nmax_interrupts = 21\n";
    let (settings, found) = merge(&[layer(ROOT, text)]);
    assert_eq!(settings.stream, StreamSettings::default());
    assert_eq!(lines(&found).len(), 3, "{found:?}");
    assert_eq!(merged(&[(LayerKind::User, text)]).stream.others.hold_bytes, 1_048_577);
}
