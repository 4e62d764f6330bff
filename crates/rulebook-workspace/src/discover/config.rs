//! Reads the settings of agents that decide which files they read.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Object, Value as Json};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rulebook::format::{Base, Config, ConfigEffect, Format};
use rulebook::frontmatter::{self, Header, Tier, Value as Yaml};
use rulebook::source::{MAX_SOURCE, Scope};

use super::search::Search;

/// The most entries of a setting that are used.
pub(super) const MAX_ENTRIES: usize = 1_000;

/// A setting that was found.
pub(super) struct LoadedConfig {
    pub(super) format: &'static Format,
    pub(super) effect: ConfigEffect,
    pub(super) scope: Scope,
    /// The root of a workspace's setting.
    pub(super) root: usize,
    /// The settings file, as shown to people.
    pub(super) shown: String,
    pub(super) value: ConfigValue,
}

/// The value of a setting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConfigValue {
    Texts(Vec<String>),
    Switches(Vec<(String, bool)>),
    Flag(bool),
}

impl ConfigValue {
    pub(super) fn texts(&self) -> &[String] {
        if let ConfigValue::Texts(texts) = self { texts } else { &[] }
    }

    /// Drops what is beyond the limit; returns whether there was any.
    pub(super) fn limit(&mut self) -> bool {
        match self {
            ConfigValue::Texts(texts) if texts.len() > MAX_ENTRIES => texts.truncate(MAX_ENTRIES),
            ConfigValue::Switches(folders) if folders.len() > MAX_ENTRIES => folders.truncate(MAX_ENTRIES),
            _ => return false,
        }
        true
    }
}

/// Reads the settings of all formats of a search.
pub(super) fn load(search: &Search<'_>) -> Vec<LoadedConfig> {
    let mut loaded = Vec::new();
    for format in &search.formats {
        for config in format.configs.iter().filter(|config| search.is_native() || config.adds()) {
            loaded.extend(places(search, config).into_iter().filter_map(|(scope, root, file)| {
                let value = read(search, &file, config)?;
                let shown = search.shown(root, &file);
                Some(LoadedConfig { format, effect: config.effect, scope, root, shown, value })
            }));
        }
    }
    loaded
}

/// Where a settings file may be.
fn places(search: &Search<'_>, config: &Config) -> Vec<(Scope, usize, PathBuf)> {
    match config.at.base {
        Base::Root | Base::Top => {
            let roots = search.roots.roots.iter().enumerate();
            roots
                .map(|(at, root)| (Scope::Workspace, at, Path::new(&root.path).join(config.at.path)))
                .collect()
        }
        base => {
            let base = search.homes.base(base);
            base.map(|base| (Scope::User, 0, base.join(config.at.path))).into_iter().collect()
        }
    }
}

fn read(search: &Search<'_>, file: &Path, config: &Config) -> Option<ConfigValue> {
    let head = config.at.path.split('/').next()?;
    let base = file.ancestors().nth(config.at.path.split('/').count())?;
    if config.at.base == Base::Top && !search.disk.may_contain(base, head) {
        return None;
    }
    let is_file = search.disk.kind(file)?.target?.is_file();
    if !is_file {
        return None;
    }
    let allows = |real: &Path| search.allows(real, base);
    let text = search
        .disk
        .text(file, search.disk.node(file), None, &allows)
        .ok()
        .filter(|text| text.len() <= MAX_SOURCE)?
        .shared();
    let is_yaml = file.extension().is_some_and(|extension| extension == "yml" || extension == "yaml");
    let is_toml = file.extension().is_some_and(|extension| extension == "toml");
    match () {
        () if is_yaml => from_yaml(&text, config.at.key),
        () if is_toml => from_toml(&text, config.at.key),
        () => from_json(&text, config.at.key),
    }
}

fn from_json(text: &str, key: &[&str]) -> Option<ConfigValue> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).ok()?;
    let root = parsed.value?;
    let (last, tables) = key.split_last()?;
    let mut object = root.as_object()?;
    for table in tables {
        object = member(object, table)?.as_object()?;
    }
    match member(object, last)? {
        Json::StringLit(text) => Some(ConfigValue::Texts(vec![text.value.to_string()])),
        Json::BooleanLit(flag) => Some(ConfigValue::Flag(flag.value)),
        Json::Array(items) => {
            let texts = items.elements.iter().filter_map(|item| item.as_string_lit());
            Some(ConfigValue::Texts(texts.map(|text| text.value.to_string()).collect()))
        }
        Json::Object(entries) => {
            let switch = |property: &jsonc_parser::ast::ObjectProp<'_>| {
                let is_on = property.value.as_boolean_lit()?.value;
                Some((property.name.as_str().to_owned(), is_on))
            };
            Some(ConfigValue::Switches(entries.properties.iter().filter_map(switch).collect()))
        }
        _ => None,
    }
}

fn member<'a, 't>(object: &'a Object<'t>, key: &str) -> Option<&'a Json<'t>> {
    object.properties.iter().find(|property| property.name.as_str() == key).map(|property| &property.value)
}

fn from_toml(text: &str, key: &[&str]) -> Option<ConfigValue> {
    let document: toml::Table = text.parse().ok()?;
    let (last, tables) = key.split_last()?;
    let table = tables.iter().try_fold(&document, |table, name| table.get(*name)?.as_table())?;
    let texts = table.get(*last)?.as_array()?.iter().filter_map(|item| item.as_str());
    Some(ConfigValue::Texts(texts.map(str::to_owned).collect()))
}

fn from_yaml(text: &str, key: &[&str]) -> Option<ConfigValue> {
    let text = format!("---\n{text}\n---\n");
    let Header::Read { fields, .. } = frontmatter::read(&text, Tier::Lines).header else { return None };
    let field = fields.iter().find(|field| [field.key.as_str()] == *key)?;
    match &field.node.value {
        Yaml::Text(text) => Some(ConfigValue::Texts(vec![text.clone()])),
        Yaml::Bool(flag) => Some(ConfigValue::Flag(*flag)),
        Yaml::List(items) => {
            let texts = items.iter().filter_map(|item| match &item.value {
                Yaml::Text(text) => Some(text.clone()),
                _ => None,
            });
            Some(ConfigValue::Texts(texts.collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_json_with_comments_and_from_yaml() {
        let texts =
            |texts: &[&str]| Some(ConfigValue::Texts(texts.iter().map(|text| (*text).to_owned()).collect()));
        let json = "{\n// a comment\n\"a\": {\"b\": [\"x\", 1, \"y\"]}, \"c\": \"z\", \"d\": {\"e\": true}, \"f\": false,}";
        assert_eq!(from_json(json, &["a", "b"]), texts(&["x", "y"]));
        assert_eq!(from_json(json, &["c"]), texts(&["z"]));
        assert_eq!(from_json(json, &["d"]), Some(ConfigValue::Switches(vec![("e".to_owned(), true)])));
        assert_eq!(from_json(json, &["f"]), Some(ConfigValue::Flag(false)));
        assert_eq!(from_json("{", &["f"]), None);
        assert_eq!(from_toml("a = 1\nb = [\"x\", 2, \"y\"]\n", &["b"]), texts(&["x", "y"]));
        assert_eq!(from_toml("[t]\nb = \"x\"\n", &["b"]), None);
        assert_eq!(from_yaml("model: x\nread: CONVENTIONS.md\n", &["read"]), texts(&["CONVENTIONS.md"]));
        assert_eq!(from_yaml("read:\n  - a.md\n  - b/*.md\n", &["read"]), texts(&["a.md", "b/*.md"]));
    }
}
