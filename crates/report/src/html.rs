//! What is known, as one HTML page that opens from disk: no network, no server, nothing beside it.
//!
//! The page holds one JSON document, a view of the [`ReportPage`], and one picture; the script and the style sheet that show them come
//! from `web/` and are embedded as built. Every part is optional: a campaign, the model it tested, an analysis
//! of mutants, a suite.
//!
//! *Promises.* What a model or a system says cannot become markup: the document is data in which every `<` is
//! escaped, the page makes text nodes of it, and its content security policy allows nothing but the
//! embedded script and style sheet, by their hashes. Size is bounded: see [`run_tape`] and [`campaign`].

pub mod campaign;
mod latency;
pub mod model;
pub mod mutation;
mod page;
pub mod run_tape;
mod runs;
pub mod suite;
mod switch_totals;

use std::io::{self, Write};

use serde::Serialize;

use self::campaign::{CampaignPage, CampaignView};
use self::model::{ModelPart, ModelShown};
use self::mutation::MutationPage;
use self::suite::{SuitePage, SuiteTold};

/// The version of the document; it changes when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// What is shown.
#[derive(Default)]
pub struct ReportPage {
    /// A campaign.
    pub campaign: Option<CampaignPage>,
    /// The model it tested.
    pub model: Option<ModelPart>,
    /// An analysis of mutants.
    pub mutation: Option<MutationPage>,
    /// A suite of tests, and what it found.
    pub suite: Option<SuitePage>,
    /// What the reader should know about what is missing.
    pub notes: Vec<String>,
    /// What `ioxide replay` is to be given.
    pub record: String,
}

impl ReportPage {
    /// Writes the page, piece by piece.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        page::write(self, out)
    }

    /// What was looked at, and what came of it, each in a few words.
    fn headline(&self) -> (String, String) {
        if let Some(campaign) = &self.campaign {
            return campaign.headline();
        }
        if let Some(mutation) = &self.mutation {
            return mutation.headline();
        }
        let name = self.model.as_ref().map_or("", |model| model.name.as_str());
        self.suite.as_ref().map_or_else(|| (name.to_owned(), String::new()), SuitePage::headline)
    }

    /// The picture of the model or the machine.
    fn picture(&self) -> &str {
        let machine = self.suite.as_ref().map(|suite| suite.picture.as_str());
        self.model.as_ref().map(|model| model.picture.as_str()).or(machine).unwrap_or_default()
    }
}

/// The document the page shows.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct DocumentView<'p> {
    format: &'static str,
    version: u32,
    record: &'p str,
    notes: &'p [String],
    campaign: Option<CampaignView<'p>>,
    model: Option<&'p ModelShown>,
    mutation: Option<&'p MutationPage>,
    suite: Option<&'p SuiteTold>,
}

impl ReportPage {
    fn view(&self) -> DocumentView<'_> {
        DocumentView {
            format: "ioxide-report",
            version: VERSION,
            record: &self.record,
            notes: &self.notes,
            campaign: self.campaign.as_ref().map(CampaignPage::view),
            model: self.model.as_ref().map(|model| &model.view),
            mutation: self.mutation.as_ref(),
            suite: self.suite.as_ref().map(|suite| &suite.told),
        }
    }
}

#[cfg(test)]
mod tests;
