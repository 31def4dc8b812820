//! The page around the document: head, policy, first words, data, script.

use std::io::{self, Write};

use super::ReportPage;
use crate::control_characters::excerpt;

/// The script, as built from `web/src/report`.
const SCRIPT: &str = include_str!("../../assets/report.js");
/// The style sheet, as built from `web/src/report`.
const STYLE: &str = include_str!("../../assets/report.css");
/// The sources that the content security policy allows: the hashes of script and style sheet, written when they are
/// built.
const POLICY: &str = include_str!("../../assets/report.csp");

/// The number of characters of a title. Chosen by feel: browsers show less.
const MAX_TITLE: usize = 120;

/// Writes the whole page.
///
/// The headline comes before the data, so a reader sees it while the rest loads, and without any script.
pub(super) fn write_page(page: &ReportPage, out: &mut dyn Write) -> io::Result<()> {
    let (about, verdict) = page.headline();
    let title = escape(&excerpt(&about, MAX_TITLE));
    let verdict = escape(&excerpt(&verdict, MAX_TITLE));
    let policy = POLICY.trim();
    let picture = page.model_picture();
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"ioxide\">\n<title>{title}: {verdict}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n\
         <div id=\"app\"><header class=\"first\"><h1>{title}</h1><p>{verdict}</p></header>\
         <noscript><p class=\"first\">The rest of this report needs JavaScript; `ioxide report` shows it in a \
         terminal.</p></noscript></div>\n\
         <template id=\"picture\">{picture}</template>\n\
         <script type=\"application/json\" id=\"data\">"
    )?;
    serde_json::to_writer(ScriptData(out), &page.document_view())?;
    write!(out, "</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")
}

/// A writer of JSON inside a script element: `<`, which in JSON occurs only in strings, is escaped.
struct ScriptData<'o>(&'o mut dyn Write);

impl Write for ScriptData<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes.iter().position(|&byte| byte == b'<') {
            Some(0) => self.0.write_all(b"\\u003c").map(|()| 1),
            Some(end) => self.0.write_all(&bytes[..end]).map(|()| end),
            None => self.0.write_all(bytes).map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// `text` for the inside of an element.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
