//! A report as one HTML page that opens from disk: no network, no server, no other file.
//!
//! The page holds one JSON document, a view of the [`ReportPage`], and one picture; the script and the style sheet that
//! show them come from `web/` and are embedded as built. Every part is optional: a campaign, the model it tested, an
//! analysis of mutants, a suite.
//!
//! *Promises.* Text from a model or a system cannot become markup: the document is data in which every `<` is escaped,
//! the page makes text nodes of it, and its content security policy allows nothing but the embedded script and style
//! sheet, by their hashes. Size is bounded: see [`run_tape`] and [`campaign`].

pub mod campaign;
pub mod evidence;
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
use self::evidence::EvidencePage;
use self::model::{ModelPart, ModelShown};
use self::mutation::MutationPage;
use self::suite::{SuitePage, SuiteView};

/// The version of the document; it changes when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// The content of a report.
#[derive(Default)]
pub struct ReportPage {
    /// A campaign.
    pub campaign: Option<CampaignPage>,
    /// The model that was tested.
    pub model: Option<ModelPart>,
    /// An analysis of mutants.
    pub mutation: Option<MutationPage>,
    /// A suite of tests, and its results.
    pub suite: Option<SuitePage>,
    /// The evidence about the first failure.
    pub evidence: Option<EvidencePage>,
    /// Notes to the reader about parts that are missing.
    pub notes: Vec<String>,
    /// The path of the record, as `ioxide replay` takes it.
    pub record: String,
}

impl ReportPage {
    /// Writes the page, piece by piece.
    ///
    /// # Errors
    /// If the page cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        page::write_page(self, out)
    }

    /// Returns the subject of the page and its result, each in a few words.
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

    /// Returns the picture of the model, else of the machine; empty if there is neither.
    fn model_picture(&self) -> &str {
        let machine = self.suite.as_ref().map(|suite| suite.picture.as_str());
        self.model.as_ref().map(|model| model.picture.as_str()).or(machine).unwrap_or_default()
    }
}

/// The JSON document of the page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct DocumentView<'p> {
    format: &'static str,
    version: u32,
    record: &'p str,
    notes: &'p [String],
    campaign: Option<CampaignView<'p>>,
    evidence: Option<&'p EvidencePage>,
    model: Option<&'p ModelShown>,
    mutation: Option<&'p MutationPage>,
    suite: Option<&'p SuiteView>,
}

impl ReportPage {
    fn document_view(&self) -> DocumentView<'_> {
        DocumentView {
            format: "ioxide-report",
            version: VERSION,
            record: &self.record,
            notes: &self.notes,
            campaign: self.campaign.as_ref().map(CampaignPage::view),
            evidence: self.evidence.as_ref(),
            model: self.model.as_ref().map(|model| &model.view),
            mutation: self.mutation.as_ref(),
            suite: self.suite.as_ref().map(|suite| &suite.view),
        }
    }
}

#[cfg(test)]
mod tests;
