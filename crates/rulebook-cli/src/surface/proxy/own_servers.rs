//! The servers that a program's own configuration names. Its requests go through the proxy and still reach them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Object;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rulebook_workspace::{Homes, read};

/// A server, and the place where the program finds its address.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnServer {
    pub(super) place: Place,
    pub(super) url: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An environment variable.
    Variable(&'static str),
    /// A key of Codex' settings.
    Codex(String),
    /// A provider in opencode's settings.
    Opencode(String),
}

/// Returns the name of a program without its folder.
pub(super) fn program_name(program: &OsStr) -> &str {
    Path::new(program).file_stem().and_then(OsStr::to_str).unwrap_or_default()
}

/// Returns the servers of a program, from its settings and the environment.
pub(super) fn own_servers(
    command: &[OsString],
    variable: &dyn Fn(&str) -> Option<String>,
    text: &dyn Fn(&Path) -> Option<String>,
) -> Vec<OwnServer> {
    let home =
        Homes::variables(cfg!(windows)).into_iter().find_map(variable).map(PathBuf::from).unwrap_or_default();
    match command.first().map(|program| program_name(program)) {
        Some("copilot") => copilot(variable),
        Some("codex") => {
            let folder = variable("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from);
            text(&folder.join("config.toml")).map(|text| codex(&text)).unwrap_or_default()
        }
        Some("opencode") => {
            let settings = variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
            let folders = [settings.join("opencode"), PathBuf::new()];
            let names = ["opencode.json", "opencode.jsonc"];
            let files = folders.iter().flat_map(|folder| names.map(|name| folder.join(name)));
            let files = files.chain(variable("OPENCODE_CONFIG").map(PathBuf::from));
            let texts = files.filter_map(|file| text(&file)).chain(variable("OPENCODE_CONFIG_CONTENT"));
            texts.fold(Vec::new(), |known, text| merged(known, opencode(&text)))
        }
        _ => Vec::new(),
    }
}

fn copilot(variable: &dyn Fn(&str) -> Option<String>) -> Vec<OwnServer> {
    let name = "COPILOT_PROVIDER_BASE_URL";
    variable(name).map(|url| OwnServer { place: Place::Variable(name), url }).into_iter().collect()
}

/// The provider that is chosen, or another address of OpenAI.
fn codex(text: &str) -> Vec<OwnServer> {
    let Ok(settings) = text.parse::<toml_edit::DocumentMut>() else { return Vec::new() };
    let text = |item: Option<&toml_edit::Item>| item.and_then(|item| item.as_str()).map(str::to_owned);
    let server = match text(settings.get("model_provider")) {
        Some(name) => {
            let provider = settings.get("model_providers").and_then(|all| all.get(&name));
            let url = text(provider.and_then(|provider| provider.get("base_url")));
            url.map(|url| OwnServer { place: Place::Codex(format!("model_providers.{name}.base_url")), url })
        }
        None => text(settings.get("openai_base_url"))
            .map(|url| OwnServer { place: Place::Codex("openai_base_url".to_owned()), url }),
    };
    server.into_iter().collect()
}

/// Every provider with an address.
fn opencode(text: &str) -> Vec<OwnServer> {
    let Ok(parsed) = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()) else {
        return Vec::new();
    };
    let Some(providers) = parsed.value.as_ref().and_then(|value| value.as_object()?.get_object("provider"))
    else {
        return Vec::new();
    };
    let server = |(name, provider): (&str, &Object<'_>)| {
        let url = provider.get_object("options")?.get_string("baseURL")?.value.to_string();
        Some(OwnServer { place: Place::Opencode(name.to_owned()), url })
    };
    let named =
        providers.properties.iter().filter_map(|one| Some((one.name.as_str(), one.value.as_object()?)));
    named.filter_map(server).collect()
}

/// Later settings replace earlier ones.
fn merged(mut known: Vec<OwnServer>, later: Vec<OwnServer>) -> Vec<OwnServer> {
    known.retain(|server| later.iter().all(|other| other.place != server.place));
    known.extend(later);
    known
}

/// Reads a settings file: at most 1 MiB, and only a regular file.
pub(super) fn settings_text(path: &Path) -> Option<String> {
    read::text(path, 1 << 20).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(program: &str, file: &str, text: &str, wanted: &[(Place, &str)]) {
        let variable = |name: &str| match name {
            "HOME" => Some("/home/u".to_owned()),
            "COPILOT_PROVIDER_BASE_URL" => Some("http://own:1/v1".to_owned()),
            _ => None,
        };
        let read = |path: &Path| (path == Path::new(file)).then(|| text.to_owned());
        let found = own_servers(&[program.into()], &variable, &read);
        let found: Vec<(&Place, &str)> = found.iter().map(|own| (&own.place, own.url.as_str())).collect();
        assert_eq!(found, wanted.iter().map(|(place, url)| (place, *url)).collect::<Vec<_>>());
    }

    #[test]
    fn the_server_of_a_programs_own_settings_is_known() {
        check("copilot", "", "", &[(Place::Variable("COPILOT_PROVIDER_BASE_URL"), "http://own:1/v1")]);
        let chosen = "model_provider = \"own\"\n[model_providers.own]\nbase_url = \"http://own:1/v1\"\n";
        let key = |name: &str| Place::Codex(name.to_owned());
        let file = "/home/u/.codex/config.toml";
        check("/usr/bin/codex", file, chosen, &[(key("model_providers.own.base_url"), "http://own:1/v1")]);
        check("codex", file, "openai_base_url = \"http://x\"", &[(key("openai_base_url"), "http://x")]);
        check("codex", file, "model = \"m\"", &[]);
        let own = "{ // mine\n \"provider\": { \"own\": { \"options\": { \"baseURL\": \"http://own:1/v1\" } }, \"openai\": {} } }";
        check("opencode", "opencode.json", own, &[(Place::Opencode("own".to_owned()), "http://own:1/v1")]);
        check("claude", "", "", &[]);
    }
}
