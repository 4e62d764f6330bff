//! Alerts: diagnostics that remove whole sets of rules, shown by every command that uses rules.

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::stream::policy::escape_tags;

use crate::out;

/// Returns the alerts: an untrusted workspace, settings that cannot be read, a remote without a copy or with a rejected one,
/// a requested rule that does not exist.
pub(crate) fn alerts(diagnostics: &[Diagnostic]) -> impl Iterator<Item = &Diagnostic> {
    const CODES: [Code; 5] =
        [Code::BadSettings, Code::Protection, Code::RemoteMissing, Code::RemoteRefused, Code::Untrusted];
    let is_request =
        |diagnostic: &Diagnostic| diagnostic.code == Code::UnknownId && diagnostic.path == "evidence";
    diagnostics.iter().filter(move |diagnostic| CODES.contains(&diagnostic.code) || is_request(diagnostic))
}

/// Formats an alert as one line.
pub(crate) fn alert_line(alert: &Diagnostic) -> String {
    let line =
        format!("{}: {}; {}", out::clean(&alert.path), out::clean(&alert.message), out::clean(&alert.help));
    // The line may be sent to a model, and a folder can have any name.
    escape_tags(&line).into_owned()
}

/// Prints the alerts to standard error, for output that has no place for them.
pub(crate) fn print_alerts(diagnostics: &[Diagnostic]) {
    let lines: String = alerts(diagnostics).map(|alert| alert_line(alert) + "\n").collect();
    out::print_aside(&lines);
}
