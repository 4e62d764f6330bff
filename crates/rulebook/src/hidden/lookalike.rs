//! Letters that look like others: a key spelled with them is not the key it seems to be.

use super::is_hidden;

/// Letters of other scripts, and the ones they are taken for. Sorted.
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
        // Full-width forms stand in the order of their plain ones.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        // So do the alphabets of mathematics, capitals and small letters in turn.
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
    fn a_word_is_seen_as_people_see_it() {
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
