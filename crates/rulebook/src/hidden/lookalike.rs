//! Letters that look like others: a key written with them is not the key that it seems to be.

use super::character::is_hidden;

/// Letters of other scripts, and the Latin letters they look like. Sorted.
const ALIKE: &[(char, char)] = &[
    ('ı', 'i'),
    ('ſ', 's'),
    ('ɑ', 'a'),
    ('ɡ', 'g'),
    ('ɩ', 'i'),
    ('Α', 'a'),
    ('Β', 'b'),
    ('Ε', 'e'),
    ('Ι', 'i'),
    ('Ο', 'o'),
    ('Ρ', 'p'),
    ('Τ', 't'),
    ('Υ', 'y'),
    ('α', 'a'),
    ('γ', 'y'),
    ('ι', 'i'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('υ', 'u'),
    ('ϲ', 'c'),
    ('ϳ', 'j'),
    ('Ѕ', 's'),
    ('І', 'i'),
    ('А', 'a'),
    ('В', 'b'),
    ('Е', 'e'),
    ('К', 'k'),
    ('М', 'm'),
    ('Н', 'h'),
    ('О', 'o'),
    ('Р', 'p'),
    ('С', 'c'),
    ('Т', 't'),
    ('Х', 'x'),
    ('а', 'a'),
    ('е', 'e'),
    ('о', 'o'),
    ('р', 'p'),
    ('с', 'c'),
    ('у', 'y'),
    ('х', 'x'),
    ('ѕ', 's'),
    ('і', 'i'),
    ('ј', 'j'),
    ('һ', 'h'),
    ('ԁ', 'd'),
    ('ԛ', 'q'),
    ('ԝ', 'w'),
    ('ո', 'n'),
    ('ս', 'u'),
    ('օ', 'o'),
    ('ⅰ', 'i'),
    ('ⅼ', 'l'),
    ('ꜱ', 's'),
];

/// What a word seems to say, in plain small letters; nothing where it says what it seems to.
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
        _ => ALIKE.binary_search_by_key(&c, |(alike, _)| *alike).map_or(c, |at| ALIKE[at].1),
    };
    let seen: String = word.chars().filter(|c| !is_hidden(*c)).map(plain).collect();
    (seen != word).then(|| seen.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(ALIKE.is_sorted_by(|a, b| a.0 < b.0));
    }

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
