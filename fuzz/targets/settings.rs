//! Any text as settings of a repository and of a user: they are merged, and a repository cannot set what only users may.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook_workspace::settings::{Layer, LayerKind, Trust, merge};

fuzz_target!(|text: &str| {
    let layer = |kind| Layer { kind, display: "rulebook.toml".to_owned(), text: text.to_owned() };
    let (settings, _) = merge(&[layer(LayerKind::Workspace { root: 0 })]);
    assert!(settings.remotes.is_empty() && settings.rules.allow_links.is_empty());
    assert_eq!(settings.trust, Trust::default());
    for path in &settings.rules.extra_paths {
        assert!(!path.value.starts_with(['/', '\\', '~']) && !path.value.split(['/', '\\']).next().is_some_and(|part| part == ".."));
    }
    let _ = merge(&[layer(LayerKind::Workspace { root: 0 }), layer(LayerKind::User), layer(LayerKind::Flags)]);
});
