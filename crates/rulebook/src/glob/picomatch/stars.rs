//! `*` and `**`.

use super::expression::{GLOBSTAR, NO_DOTS, NO_LONE_DOT, SLASH, SOMETHING, STAR};
use super::token::{Kind, Token};
use super::translator::Translator;

impl Translator {
    pub(super) fn star(&mut self) {
        let last = self.last();
        if last.kind == Kind::Globstar || last.long_run {
            let last = self.last_mut();
            last.kind = Kind::Star;
            last.long_run = true;
            last.value.push('*');
            last.output = Some(STAR.to_owned());
            self.rebuilds = true;
            return;
        }
        if self.opens_star_extglob() {
            return self.open_extglob('*');
        }
        if last.kind == Kind::Star {
            return self.second_star();
        }
        self.first_star();
    }

    fn first_star(&mut self) {
        let last = self.last().kind;
        if self.is_at_start() || matches!(last, Kind::Slash | Kind::Dot) {
            let guard = if last == Kind::Dot { NO_LONE_DOT } else { NO_DOTS };
            self.guard(guard);
            if self.peek(1) != Some('*') {
                self.guard(SOMETHING);
            }
        }
        self.push(Token::new(Kind::Star, "*").writing(STAR));
    }

    /// Adds an assertion to the last token.
    fn guard(&mut self, assertion: &str) {
        self.source += assertion;
        *self.last_mut().output_mut() += assertion;
    }

    fn second_star(&mut self) {
        let prior = self.before(self.last).unwrap_or(0);
        let kind = self.kind(prior);
        let before = self.before(prior).map(|at| self.kind(at));
        let opens_brace = self.braces > 0 && matches!(kind, Kind::Comma | Kind::Brace);
        if !opens_brace && !matches!(kind, Kind::Slash | Kind::Start | Kind::Paren) {
            return self.push(Token::new(Kind::Star, "*").writing(""));
        }
        self.skip_repeated_globstars();

        let next = self.peek(1);
        let after_slash = kind == Kind::Slash && before != Some(Kind::Start);
        let after_star = matches!(before, Some(Kind::Star | Kind::Globstar));
        if kind == Kind::Start && self.is_done() {
            self.become_globstar(GLOBSTAR.to_owned());
            self.source = GLOBSTAR.to_owned();
        } else if after_slash && !after_star && self.ends_here() {
            self.join_slash(prior, format!("{GLOBSTAR}|$)"));
        } else if after_slash && next == Some('/') {
            let end = if self.peek(2).is_some() { "|$" } else { "" };
            self.join_slash(prior, format!("{GLOBSTAR}{SLASH}|{SLASH}{end})"));
            self.take_slash();
        } else if kind == Kind::Start && next == Some('/') {
            let output = format!("(?:^|{SLASH}|{GLOBSTAR}{SLASH})");
            self.source.clone_from(&output);
            self.become_globstar(output);
            self.take_slash();
        } else {
            self.cut(self.last().output().len());
            self.source += GLOBSTAR;
            self.become_globstar(GLOBSTAR.to_owned());
        }
    }

    /// `**/**/**` counts as one `**`.
    fn skip_repeated_globstars(&mut self) {
        while self.rest().starts_with(&['/', '*', '*']) && matches!(self.peek(4), None | Some('/')) {
            self.next += 3;
        }
    }

    /// Whether only closing parentheses follow, none of them of a `!(`.
    fn ends_here(&self) -> bool {
        let rest = self.rest();
        self.is_done()
            || (self.parens > 0
                && rest.len() == self.parens.unsigned_abs() as usize
                && rest.iter().all(|&c| c == ')')
                && !self.extglobs.iter().any(|extglob| extglob.kind == Kind::Not))
    }

    fn become_globstar(&mut self, output: String) {
        let last = self.last_mut();
        last.kind = Kind::Globstar;
        last.value.push('*');
        last.output = Some(output);
    }

    /// Moves the slash before `**` into the group, so that it becomes optional.
    fn join_slash(&mut self, prior: usize, output: String) {
        let slash = self.tokens[prior].output().to_owned();
        self.cut(slash.len() + self.last().output().len());
        let slash = format!("(?:{slash}");
        self.source += &slash;
        self.source += &output;
        self.tokens[prior].output = Some(slash);
        self.become_globstar(output);
    }

    fn take_slash(&mut self) {
        self.advance();
        self.push(Token::new(Kind::Slash, "/").writing(""));
    }
}
