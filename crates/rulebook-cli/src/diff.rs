//! A line-by-line difference of two texts.

/// The most comparisons that are made. Beyond it, everything between the first and the last difference is shown.
const MAX_COMPARED: usize = 4 << 20;

/// Returns the removed lines with a `-` and the added ones with a `+`.
pub(crate) fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let shared = shared(old, new);
    let (mut text, mut at, mut to) = (String::new(), 0, 0);
    let mut show = |mark: char, lines: &[&str]| {
        text.extend(
            lines.iter().map(|line| format!("  {mark} {}\n", crate::out::clean(&line.replace('\t', "    ")))),
        );
    };
    for (a, b) in shared.into_iter().chain([(old.len(), new.len())]) {
        show('-', &old[at..a]);
        show('+', &new[to..b]);
        (at, to) = (a + 1, b + 1);
    }
    text
}

/// Returns the longest common subsequence of lines, as pairs of positions.
fn shared(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) > MAX_COMPARED {
        return Vec::new();
    }
    let width = new.len() + 1;
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            longest[a * width + b] = if old[a] == new[b] {
                longest[(a + 1) * width + b + 1] + 1
            } else {
                longest[(a + 1) * width + b].max(longest[a * width + b + 1])
            };
        }
    }
    let (mut found, mut a, mut b) = (Vec::new(), 0, 0);
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            found.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if longest[(a + 1) * width + b] >= longest[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_shown_in_order() {
        #[track_caller]
        fn check(before: &str, after: &str, shown: &str) {
            assert_eq!(diff(before, after), shown);
        }
        check("", "", "");
        check("a\nb\n", "a\nb\n", "");
        check("", "a\nb\n", "  + a\n  + b\n");
        check("a\nb\n", "", "  - a\n  - b\n");
        check("a\nb\nc\n", "a\nB\nc\n", "  - b\n  + B\n");
        check("a\nb\nc\nd\n", "a\nx\nb\nc\ny\n", "  + x\n  - d\n  + y\n");
        check("{\r\n\ta\r\n}", "{\r\n}", "  -     a\n");
    }
}
