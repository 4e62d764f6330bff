//! The reply to a host that appends: what is due, objections to a call, alerts; decided first, claimed, then written.

use super::due::{Due, OFFERS, Written};
use super::event::{Delivery, Event};
use super::host::{HostProfile, Moment, Report};
use super::refuse::{Objection, join};
use super::situation::Situation;
use super::state::Session;
use crate::own_text::TELL_USER;
use crate::render::Notice;
use crate::stream::policy::escape_tags;

/// The answer to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// For the model.
    pub context: Option<String>,
    /// For the user.
    pub notice: Option<String>,
    /// Why the call must not run, or the turn must not end.
    pub refusal: Option<String>,
    /// Why the user must be asked before the call runs.
    pub ask: Option<String>,
}

/// A reply whose deliveries are not claimed yet.
#[derive(Debug)]
pub struct Draft<'e, 'r> {
    host: HostProfile<'e>,
    moment: Moment,
    cap: usize,
    due: Due<'e, 'r>,
    written: Option<Written>,
    objection: Objection,
    alerts: Vec<Delivery>,
}

impl Session {
    /// Drafts the reply to a report.
    pub fn draft<'e, 'r>(
        &self,
        report: &Report<'e>,
        situation: &Situation<'e, 'r>,
        alerts: Vec<Delivery>,
    ) -> Draft<'e, 'r> {
        let mut objection = self.object(report, situation);
        let used = objection.context.as_ref().map_or(0, |text| text.chars().count());
        let cap = report.host.cap.saturating_sub(used);
        let due = self.due(report, situation);
        let own = std::mem::take(&mut objection.alerts);
        let alerts = alerts.into_iter().chain(own).filter(|alert| !self.has(alert)).collect();
        Draft {
            host: report.host,
            moment: report.moment,
            cap,
            written: due.write(cap),
            due,
            objection,
            alerts,
        }
    }
}

impl Draft<'_, '_> {
    /// The events of the reply other than deliveries.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.objection.events)
    }

    /// The deliveries to claim.
    pub fn claims(&self) -> Vec<Delivery> {
        let written = self.written.iter().flat_map(|written| &written.deliveries);
        written.chain(&self.alerts).cloned().collect()
    }

    /// Writes the reply with the deliveries that are the caller's. `lost` says why the session cannot be kept: then what
    /// always applies comes with every prompt, and not with every call as well; and refusals that are counted are left out,
    /// because they would never end.
    pub fn reply(self, mine: &[Delivery], lost: Option<&str>) -> Reply {
        let asks_model = !self.host.shows_notices && self.host.takes_context(self.moment);
        let reply = self.write_reply(mine, lost);
        match reply.notice {
            Some(notice) if asks_model => {
                let request = format!("{TELL_USER}\n{}", escape_tags(&notice));
                let context = reply.context.map(|text| format!("{request}\n\n{text}")).unwrap_or(request);
                Reply { context: Some(context), notice: None, ..reply }
            }
            _ => reply,
        }
    }

    fn write_reply(mut self, mine: &[Delivery], lost: Option<&str>) -> Reply {
        let mut objection = std::mem::take(&mut self.objection);
        if let Some(why) = lost {
            objection.let_through(why, self.host.takes_context(self.moment));
        }
        let Objection { context: beside, notice, refusal, ask, .. } = objection;
        let mut reply = Reply { context: None, notice, refusal, ask };
        let claims = self.written.as_ref().map_or(0, |written| written.deliveries.len()) + self.alerts.len();
        if claims == 0 {
            return Reply { context: beside, ..reply };
        }
        let is_of_turn = |moment: &Moment| matches!(moment, Moment::Start | Moment::Prompt);
        let is_within_turn =
            lost.is_some() && !is_of_turn(&self.moment) && self.host.context_at.iter().any(is_of_turn);
        let lost = lost.map(|why| format!("Rulebook delivers its rules with every prompt: {why}"));
        let alerts = mine.iter().filter(|delivery| delivery.is_alert()).map(|alert| alert.because.as_str());
        let lines: Vec<&str> = alerts.chain(lost.as_deref()).filter(|_| !is_within_turn).collect();
        if !lines.is_empty() {
            reply.notice = Some(join(reply.notice.take(), &lines.join("\n")));
        }
        if mine.len() < claims || is_within_turn {
            // Another process claimed some of them first.
            let is_mine = |source: &str| mine.iter().any(|delivery| delivery.source == source);
            let keeps_offers = is_mine(OFFERS) && !is_within_turn;
            self.due.retain(
                |source, verdict| is_mine(source) && !(is_within_turn && verdict.because.is_empty()),
                keeps_offers,
            );
            self.written = self.due.write(self.cap);
        }
        if let Some(Written { text, notice, .. }) = self.written {
            // The model passes on one line.
            let shown = |notice: Notice| if self.host.shows_notices { notice.text() } else { notice.line() };
            if let Some(notice) = notice.map(shown) {
                reply.notice = Some(join(reply.notice.take(), &notice));
            }
            reply.context = Some(join(reply.context.take(), &text));
        }
        if let Some(text) = beside {
            reply.context = Some(join(reply.context.take(), &text));
        }
        reply
    }
}
