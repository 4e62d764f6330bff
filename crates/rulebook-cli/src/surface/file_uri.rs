//! Files by their addresses.

use std::path::PathBuf;

use rulebook::id::percent_decoded;

/// The file or folder of a `file://` address.
pub(super) fn file_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    Some(PathBuf::from(percent_decoded(&rest[rest.find('/')?..]).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_an_address() {
        #[track_caller]
        fn check(uri: &str, wanted: Option<&str>) {
            assert_eq!(file_path(uri), wanted.map(PathBuf::from), "{uri}");
        }
        check("file:///a/b", Some("/a/b"));
        check("file://localhost/a%20b/%C3%A9", Some("/a b/é"));
        check("file:///100%", Some("/100%"));
        check("file:///a%2", Some("/a%2"));
        check("https://example.com/a", None);
        check("file://", None);
    }
}
