//! Files as a tree of folders, collapsed unless they are few.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::links::Links;
use super::text::{Text, counted, grouped};

/// Up to this many files are listed without folders.
const MAX_FLAT: usize = 12;

/// How many entries of a folder are listed, and how many entries altogether. The rest is counted.
const MAX_HERE: usize = 25;
const MAX_ALL: usize = 400;

/// A folder: the files in it and the folders below it.
#[derive(Default)]
struct Folder<'f> {
    count: usize,
    files: Vec<&'f str>,
    below: BTreeMap<&'f str, Folder<'f>>,
}

/// Shows files; `files` are sorted.
pub(super) fn files(files: &[String], links: Links<'_>) -> Markup {
    if files.len() <= MAX_FLAT {
        return html! { ul .tree .files { @for file in files { li { (links.path(file)) } } } };
    }
    let mut top = Folder::default();
    for file in files {
        let mut folder = &mut top;
        folder.count += 1;
        let (above, _) = file.rsplit_once('/').unwrap_or(("", file));
        for part in above.split('/').filter(|part| !part.is_empty()) {
            folder = folder.below.entry(part).or_default();
            folder.count += 1;
        }
        folder.files.push(file);
    }
    html! { ul .tree .files { (entries(&top, links, &mut MAX_ALL.clone())) } }
}

fn entries(folder: &Folder<'_>, links: Links<'_>, room: &mut usize) -> Markup {
    let shown = MAX_HERE.min(*room);
    let folders = shown.min(folder.below.len());
    let files = (shown - folders).min(folder.files.len());
    *room -= folders + files;
    let listed: usize = folder.below.values().take(folders).map(|below| below.count).sum();
    let rest = folder.count - listed - files;
    html! {
        @for (part, below) in folder.below.iter().take(folders) {
            @let (path, below) = chain(part, below);
            li { details { summary { span .file { (Text(&path)) "/" } " " span .count { (grouped(below.count)) } }
                ul .tree { (entries(below, links, room)) } } }
        }
        @for file in &folder.files[..files] { li { (links.path(file)) } }
        @if rest > 0 { li .count { "and " (counted(rest, "more file")) } }
    }
}

/// Joins folders that contain nothing but one folder.
fn chain<'a, 'f>(part: &str, folder: &'a Folder<'f>) -> (String, &'a Folder<'f>) {
    match folder.below.first_key_value() {
        Some((next, below)) if folder.below.len() == 1 && folder.files.is_empty() => {
            let (path, last) = chain(next, below);
            (format!("{part}/{path}"), last)
        }
        _ => (part.to_owned(), folder),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::ui::http::Query;

    fn shown(count: usize, folder: impl Fn(usize) -> String) -> String {
        let mut all: Vec<String> = (0..count).map(|at| format!("{}f{at:04}.rs", folder(at))).collect();
        all.sort();
        files(&all, Links::of(&Query::default())).into_string()
    }

    #[test]
    fn few_files_are_listed_and_many_are_grouped_by_folder() {
        assert_eq!(shown(3, |_| "a/b/".to_owned()).matches("<a ").count(), 3);
        assert!(!shown(3, |_| "a/b/".to_owned()).contains("<details"));
        let many = shown(20, |_| "a/b/".to_owned());
        assert!(many.contains("a/b/"), "{many}");
        assert_eq!((many.matches("<details").count(), many.matches("<a ").count()), (1, 20));
    }

    #[test]
    fn the_list_is_bounded_and_the_rest_is_counted() {
        let many = shown(9000, |at| format!("d{}/e{}/", at % 90, at % 7));
        assert!(many.matches("<li").count() < 600);
        assert!(many.contains("more files"));
    }
}
