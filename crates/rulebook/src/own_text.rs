//! The texts that Rulebook adds to conversations, and how they are found again in what a host reports. They are not the
//! user's words.

use std::borrow::Cow;

/// The tag of a rule delivered beside the conversation.
pub(crate) const RULE_TAG: &str = "rulebook-rule";

/// The tag of a rule whose match stopped the output.
pub(crate) const INTERRUPT_TAG: &str = "system-interrupt";

/// What precedes the names of the rules that follow.
pub(crate) const HEADING: &str = "The user set up these rules for this work, and they apply now: ";

/// The line above rules that apply and do not fit.
pub(crate) const TOO_LONG: &str = "These rules apply too, but are too long for this message. Read each before you continue: `rulebook read NAME`.";

/// The line above the offers.
pub(crate) const OFFERS: &str =
    "More rules are available. To read one, run `rulebook read NAME` or read rule://NAME:";

/// The line above a notice that the model passes on.
pub(crate) const TELL_USER: &str = "Tell the user, from Rulebook:";

/// How far a text goes on after its first words.
#[derive(Clone, Copy)]
enum Extent {
    /// To the end of the line.
    Line,
    /// Over the list below it.
    List,
    /// To the next empty line.
    Paragraph,
}

/// The first words of the texts that have no tags.
const STARTS: [(&str, Extent); 4] = [
    (HEADING, Extent::Line),
    (TOO_LONG, Extent::List),
    (OFFERS, Extent::List),
    (TELL_USER, Extent::Paragraph),
];

/// What starts an item of a list.
const ITEM: &str = "\n- ";

/// Returns a text without the texts of Rulebook that have no tags.
pub(crate) fn without_untagged(text: &str) -> Cow<'_, str> {
    let mut left = Cow::Borrowed(text);
    for (start, extent) in STARTS {
        if let Cow::Owned(less) = without(&left, start, extent) {
            left = Cow::Owned(less);
        }
    }
    left
}

fn without<'t>(text: &'t str, start: &str, extent: Extent) -> Cow<'t, str> {
    let (mut left, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(start) {
        left.push_str(before);
        rest = &after[extent.of(after)..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    left.push_str(rest);
    Cow::Owned(left)
}

impl Extent {
    /// How many bytes of what follows the first words belong to the text.
    fn of(self, after: &str) -> usize {
        match self {
            Extent::Line => line_end(after),
            Extent::List => after.len() - items(after).1.len(),
            Extent::Paragraph => after.find("\n\n").unwrap_or(after.len()),
        }
    }
}

fn line_end(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The items of the list with which a text starts, without their dashes, and what follows them.
fn items(text: &str) -> (Vec<&str>, &str) {
    let (mut items, mut rest) = (Vec::new(), text);
    while let Some(item) = rest.strip_prefix(ITEM) {
        let (line, after) = item.split_at(line_end(item));
        items.push(&rest[1..ITEM.len() + line.len()]);
        rest = after;
    }
    (items, rest)
}

/// The rules that a text contains because Rulebook added them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnText<'t> {
    /// Their names and texts, as written.
    pub(crate) rules: Vec<(&'t str, &'t str)>,
    /// The lines of those that were too long.
    pub(crate) listed: Vec<&'t str>,
    /// The lines of the offers.
    pub(crate) offers: Vec<&'t str>,
}

impl<'t> OwnText<'t> {
    /// Finds them.
    pub(crate) fn of(text: &'t str) -> OwnText<'t> {
        let list = |heading| text.split_once(heading).map(|(_, after)| items(after).0).unwrap_or_default();
        let mut found = OwnText { rules: Vec::new(), listed: list(TOO_LONG), offers: list(OFFERS) };
        let (open, close) = (format!("<{RULE_TAG} name=\""), format!("\n</{RULE_TAG}>"));
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(&open) {
            let Some((whole, after)) = after.split_once(&close) else { break };
            // Attributes have no line ends and no brackets.
            if let Some((attributes, body)) = whole.split_once(">\n")
                && let Some((name, _)) = attributes.split_once('"')
            {
                found.rules.push((name, body));
            }
            rest = after;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_without_tags_are_taken_out_wherever_they_start() {
        #[track_caller]
        fn check(text: &str, left: &str) {
            assert_eq!(without_untagged(text), left, "{text:?}");
        }
        check("fix src/a.ts", "fix src/a.ts");
        check(&format!("fix it{HEADING}a, b.\n\nthen"), "fix it\n\nthen");
        check(&format!("{OFFERS}\n- a: see x/y.ts\n- and 3 more\nmine\n- list"), "\nmine\n- list");
        check(&format!("one {TOO_LONG}\n- a\n\n{OFFERS}\n- b"), "one \n\n");
        check(&format!("{TELL_USER}\n📋 a\n  a: paths x\n\nfix"), "\n\nfix");
        check(&format!("{TELL_USER}\n📋 a"), "");
    }

    #[test]
    fn rules_are_found_with_their_texts() {
        let rule = |name: &str, body: &str| {
            format!("<{RULE_TAG} name=\"{name}\" from=\"x\" because=\"y\">\n{body}\n</{RULE_TAG}>")
        };
        let text = format!(
            "go{HEADING}a, b.\n\n{}\n\n{}\n\n{TOO_LONG}\n- c\n\n{OFFERS}\n- d: e\n- f",
            rule("a", "A\n>\nA"),
            rule("b", "B")
        );
        let found = OwnText::of(&text);
        assert_eq!(found.rules, [("a", "A\n>\nA"), ("b", "B")]);
        assert_eq!((found.listed, found.offers), (vec!["- c"], vec!["- d: e", "- f"]));
        assert_eq!(OwnText::of("<rulebook-rule name=\"a\">\nnot closed"), OwnText::default());
    }
}
