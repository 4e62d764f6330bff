//! Schemas: decides for each rules folder of a format with a strict schema whether its files follow it.

use std::collections::BTreeMap;

use rulebook::diagnostic::Severity;
use rulebook::frontmatter::has_key;
use rulebook::parse::Parsed;
use rulebook::source::Origin;

use crate::discover::Found;
use crate::load::Loader;
use crate::settings::Rules;

/// Why the files of a folder must follow the schema, by folder.
#[derive(Debug, Default)]
pub(crate) struct Strict(BTreeMap<String, String>);

impl Strict {
    /// Reads folders leniently unless the settings enforce the schema, or a header in the folder has the key that only the
    /// schema knows.
    pub(crate) fn decide(found: &mut [Found], loader: &Loader<'_>, rules: &Rules) -> Strict {
        let mut strict = Strict::default();
        for file in found.iter().filter(|file| file.origin.format.lenient().is_some()) {
            let folder = folder_of(&file.origin);
            let reason = match rules.strictness(file.origin.format.id) {
                Some((true, settings)) => Some(format!("`rules.strict` in {settings} names the format")),
                Some((false, _)) => None,
                None if strict.0.contains_key(folder) => None,
                None => {
                    let text = loader.text(file);
                    let states = text.is_some_and(|text| has_key(&text, "priority"));
                    states.then(|| format!("`{}` has a `priority`", file.origin.display))
                }
            };
            if let Some(reason) = reason {
                strict.0.entry(folder.to_owned()).or_insert(reason);
            }
        }
        for file in found {
            if let Some(lenient) = file.origin.format.lenient()
                && !strict.0.contains_key(folder_of(&file.origin))
            {
                file.origin.format = lenient;
            }
        }
        strict
    }

    /// Adds to every error of a strict folder why it is strict, and how to change that.
    pub(crate) fn explain(&self, parsed: &mut [Parsed]) {
        if self.0.is_empty() {
            return;
        }
        for parsed in parsed {
            let origin = parsed.entry.origin();
            let Some(reason) = origin.format.lenient().and_then(|_| self.0.get(folder_of(origin))) else {
                continue;
            };
            let format = origin.format.id;
            for found in parsed.diagnostics.iter_mut().filter(|found| found.severity == Severity::Error) {
                found.help = format!(
                    "{}; this folder is checked strictly because {reason}; `rules.strict = [\"!{format}\"]` turns that off",
                    found.help
                );
            }
        }
    }
}

/// The rules folder of a file.
fn folder_of(origin: &Origin) -> &str {
    origin.path.strip_suffix(origin.inner.as_str()).unwrap_or(&origin.path)
}
