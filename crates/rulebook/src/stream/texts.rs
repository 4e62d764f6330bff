//! The texts in a field of a call: one for each file of a patch, and the rest.

use super::file::File;
use super::gates::Gates;
use super::hit::Hit;
use super::patch::Part;
use super::scope::{Covers, OutputPart};
use super::watch::Watch;
use super::written::Written;

/// The maximum number of earlier files of a patch.
const MAX_BEFORE: usize = 1000;

/// The texts in a field.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) plain: Option<Written>,
    /// The current file of a patch.
    file: Option<(File, Written)>,
    /// Whether a text may replace another.
    is_compared: bool,
    /// Earlier files of the patch with the conditions that matched: a file may occur again.
    before: Vec<(File, Vec<bool>)>,
}

/// Searches the texts of a field and collects hits.
pub(super) struct Search<'e> {
    pub(super) watch: &'e mut Watch,
    pub(super) part: OutputPart<'e>,
    pub(super) gates: &'e mut Gates,
    pub(super) hits: &'e mut Vec<Hit>,
}

impl Texts {
    pub(super) fn new(is_compared: bool) -> Texts {
        Texts { is_compared, ..Texts::default() }
    }

    pub(super) fn take(&mut self, part: Part<'_>, search: &mut Search<'_>) {
        match (part, &mut self.file) {
            (Part::File(path) | Part::UnknownFile(path), _) => {
                let file = match part {
                    Part::UnknownFile(_) => File::unknown(path),
                    _ => File::new(&search.watch.roots, path),
                };
                if self.file.as_ref().is_none_or(|(other, _)| *other != file) {
                    self.end_file(search);
                    let at = self.before.iter().position(|(other, _)| *other == file);
                    let met = at.map(|at| self.before.swap_remove(at).1);
                    let channel = search.watch.channel(&search.part, met);
                    self.file = Some((file, Written::new(channel, self.is_compared)));
                }
            }
            (Part::Added(text), Some((file, written))) => {
                search.run(written, Some(file), Some(text.as_bytes()));
            }
            (Part::Removed(text), Some((_, written))) => written.replace(text),
            (Part::Removed(text), None) => self.plain(search).replace(text),
            (Part::Added(text) | Part::Plain(text), _) => self.take_plain(text.as_bytes(), search),
        }
    }

    pub(super) fn take_plain(&mut self, text: &[u8], search: &mut Search<'_>) {
        let plain = self.plain(search);
        search.run(plain, None, Some(text));
    }

    /// The text that belongs to no file of a patch.
    fn plain(&mut self, search: &mut Search<'_>) -> &mut Written {
        let is_compared = self.is_compared;
        let start = || Written::new(search.watch.channel(&search.part, None), is_compared);
        self.plain.get_or_insert_with(start)
    }

    /// Ends the text of the current file of a patch.
    fn end_file(&mut self, search: &mut Search<'_>) {
        let Some((file, mut written)) = self.file.take() else { return };
        search.run(&mut written, Some(&file), None);
        written.settle(true, search.watch, search.gates, search.hits);
        if written.channel.met.contains(&true) && self.before.len() < MAX_BEFORE {
            self.before.push((file, written.channel.met));
        }
    }

    pub(super) fn end(&mut self, search: &mut Search<'_>) {
        self.end_file(search);
        if let Some(plain) = &mut self.plain {
            search.run(plain, None, None);
        }
    }
}

impl Search<'_> {
    /// Continues a text, or ends it. A hit in a text that may replace another waits for the comparison. A hit that needs a matching
    /// file waits for one, unless the text belongs to a file of a patch.
    pub(super) fn run(&mut self, written: &mut Written, file: Option<&File>, bytes: Option<&[u8]>) {
        let Search { watch, part, gates, hits } = self;
        let Written { channel, compared, held } = written;
        if let (Some((text, _)), Some(bytes)) = (&mut *compared, bytes) {
            text.push(bytes);
        }
        let is_compared = compared.is_some();
        watch.watch(channel, bytes, part, file, &mut |conditions, condition, covers, hit| match covers {
            _ if is_compared => held.push((condition, covers, hit)),
            Covers::Yes => hits.push(hit),
            _ if file.is_none() => gates.add_hit(conditions, condition, hit, hits),
            _ => {}
        });
    }
}
