//! Letters that look like others: a key written with them is not the key that it seems to be.

use super::character::is_hidden;

/// Latin letters, and the letters of other scripts that look like them.
const ALIKE: &[(char, &str)] = &[
    ('a', "ɑΑαАа"),
    ('b', "ΒВ"),
    ('c', "ϲСс"),
    ('d', "ԁ"),
    ('e', "ΕЕе"),
    ('g', "ɡ"),
    ('h', "Нһ"),
    ('i', "ıɩΙιІіⅰ"),
    ('j', "ϳј"),
    ('k', "К"),
    ('l', "ⅼ"),
    ('m', "М"),
    ('n', "ո"),
    ('o', "ΟοОоօ"),
    ('p', "ΡρРр"),
    ('q', "ԛ"),
    ('s', "ſЅѕꜱ"),
    ('t', "ΤТ"),
    ('u', "υս"),
    ('v', "ν"),
    ('w', "ԝ"),
    ('x', "Хх"),
    ('y', "Υγу"),
];

/// Returns what a word seems to be, in plain lower-case letters; `None` if it is what it seems.
pub(crate) fn skeleton(word: &str) -> Option<String> {
    if word.is_ascii() {
        return None;
    }
    let plain = |c: char| match c {
        // Full-width forms have the order of the plain letters.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        // So do the mathematical alphabets, which alternate upper and lower case.
        '\u{1d400}'..='\u{1d6a3}' => {
            let at = (u32::from(c) - 0x1d400) % 26;
            char::from_u32(u32::from('a') + at).unwrap_or(c)
        }
        _ => ALIKE.iter().find(|(_, alike)| alike.contains(c)).map_or(c, |(letter, _)| *letter),
    };
    let seen: String = word.chars().filter(|c| !is_hidden(*c)).map(plain).collect();
    (seen != word).then(|| seen.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_alike_letters_become_plain_ones() {
        #[track_caller]
        fn check(word: &str, want: Option<&str>) {
            assert_eq!(skeleton(word).as_deref(), want, "{word}");
        }
        check("paths", None);
        check("раths", Some("paths"));
        check("pa\u{200b}ths", Some("paths"));
        check("ｇｌｏｂｓ", Some("globs"));
        check("𝐠𝐥𝐨𝐛𝐬", Some("globs"));
        check("größe", None);
    }
}
